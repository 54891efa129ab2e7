"""Logarithms of energies of sound in ONNX: STFT, powers, filters, a floor and a logarithm."""

from __future__ import annotations

import numpy as np

from edgec.exporters.onnx.codes import Exporter
from edgec.exporters.onnx.state import Emitter
from edgec.ir import ops
from edgec.ir.graph import Node
from edgec.ir.operator import OperatorTable

EXPORTERS = OperatorTable[Exporter]()


@EXPORTERS.entry(ops.Spectrum)
def _spectrum(e: Emitter, node: Node) -> None:
    e.store(node.output, _stft(e, node))


@EXPORTERS.entry(ops.LogMel)
def _log_mel(e: Emitter, node: Node) -> None:
    attrs, inputs = node.attrs_as(ops.LogMel), ops.LogMel.Inputs.of(node.inputs)
    name, bank = node.name, e.graph.constants[inputs.bank].real()
    y = e.emit(name, "ReduceSumSquare", [_stft(e, node), e.ints(f"{name}_parts", [3])], keepdims=0)
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


def _stft(e: Emitter, node: Node) -> str:
    """The spectra of a node's samples, [1, T, F, 2]."""
    attrs, name = node.attrs_as(ops.Spectrum, ops.LogMel), node.name
    inputs = attrs.Inputs.of(node.inputs)
    numbers = e.graph.constants[inputs.window].real()
    kept = np.pad(numbers, (0, attrs.points - len(numbers)))
    sizes = {"hop": attrs.hop, "points": attrs.points}
    hop, points = (
        e.initializer(f"{name}_{key}", np.asarray(value, np.int64)) for key, value in sizes.items()
    )
    return e.emit(
        name, "STFT", [e.fetch(inputs.x), hop, e.initializer(f"{name}_window", kept), points]
    )
