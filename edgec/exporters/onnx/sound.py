"""Logarithms of energies of sound in ONNX: STFT, powers, filters, a floor and a logarithm."""

from __future__ import annotations

import numpy as np

from edgec.exporters.onnx.codes import Exporter
from edgec.exporters.onnx.state import Emitter
from edgec.ir import ops
from edgec.ir.graph import Node
from edgec.ir.operator import OperatorTable

EXPORTERS = OperatorTable[Exporter]()


@EXPORTERS.entry(ops.LogMel)
def _log_mel(e: Emitter, node: Node) -> None:
    attrs, inputs = node.attrs_as(ops.LogMel), ops.LogMel.Inputs.of(node.inputs)
    window, bank = (e.graph.constants[name].real() for name in (inputs.window, inputs.bank))
    name = node.name
    sizes = [
        e.initializer(f"{name}_{key}", np.asarray(value, np.int64))
        for key, value in (("hop", attrs.hop), ("points", attrs.points))
    ]
    kept = e.initializer(f"{name}_window", np.pad(window, (0, attrs.points - len(window))))
    y = e.emit(name, "STFT", [e.fetch(inputs.x), sizes[0], kept, sizes[1]])
    y = e.emit(name, "ReduceSumSquare", [y, e.ints(f"{name}_parts", [3])], keepdims=0)
    if attrs.magnitude:
        y = e.emit(name, "Sqrt", [y])
    y = e.emit(name, "MatMul", [y, e.initializer(f"{name}_bank", bank)])
    if attrs.added:
        y = e.emit(name, "Add", [y, e.scalar(f"{name}_added", attrs.added)])
    if attrs.least:
        y = e.emit(name, "Max", [y, e.scalar(f"{name}_least", attrs.least)])
    y = e.emit(name, "Log", [y])
    y = e.emit(name, "Mul", [y, e.scalar(f"{name}_gain", attrs.gain)])
    e.store(node.output, e.emit(name, "Add", [y, e.scalar(f"{name}_bias", attrs.bias)]))
