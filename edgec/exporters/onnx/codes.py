"""Quantization in ONNX, of a graph that still holds it as nodes."""

from __future__ import annotations

from edgec.exporters.onnx.common import (
    Exporter,
    common_layout,
)
from edgec.exporters.onnx.state import Emitter
from edgec.ir import ops
from edgec.ir.graph import Node
from edgec.ir.operator_table import OperatorTable

EXPORTERS = OperatorTable[Exporter]()


@EXPORTERS.entry(ops.QuantizeLinear)
def _quantize_linear(e: Emitter, node: Node) -> None:
    layout = common_layout(e, node)
    x = e.fetch(node.first, layout)
    parameters = e.quant_parameters(node.output, e.graph.quant(node.output), layout)
    e.alias(
        node.output,
        e.emit(node.name, "QuantizeLinear", [x, *parameters[0]], **parameters[1]),
        layout,
    )


@EXPORTERS.entry(ops.DequantizeLinear)
def _dequantize_linear(e: Emitter, node: Node) -> None:
    layout = common_layout(e, node)
    x = node.input
    parameters = e.quant_parameters(x, e.graph.quant(x), layout)
    y = e.emit(node.name, "DequantizeLinear", [e.fetch(x, layout), *parameters[0]], **parameters[1])
    e.store(node.output, y, layout)
