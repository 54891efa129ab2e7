"""Quantization in ONNX: as nodes of the graph, and as Q/DQ pairs that a quantized export adds.

Also the layouts in which the exporters of operators work, and axes between them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from edgec.base.dtypes import DType
from edgec.exporters.onnx.state import NHWC_TO_NCHW, Emitter, Layout
from edgec.ir import ops
from edgec.ir.fusion import fused_clip
from edgec.ir.graph import Graph, Node, Value
from edgec.ir.metadata import integer_io_dtype
from edgec.ir.operator import OperatorTable
from edgec.ir.qparams import QuantParams

Exporter: TypeAlias = Callable[[Emitter, Node], None]
"""Adds what a node becomes to the model.

It fetches its inputs in the layout that it wants, emits ONNX nodes and stores its output.  It does
not know whether the model is float or quantized: `Emitter` and `QdqEmitter` decide what a fetched
tensor is.
"""


def common_layout(e: Emitter, node: Node) -> Layout:
    """NCHW if a rank-4 input is stored so and all run-time inputs and the output have rank 4."""
    runtime = [name for name in node.inputs if name in e.graph.values]
    rank4 = all(len(e.graph.shape(name)) == 4 for name in (*runtime, *node.outputs))
    if rank4 and any(e.layout_of(name) is Layout.NCHW for name in runtime):
        return Layout.NCHW
    return Layout.GRAPH


def elementwise(e: Emitter, node: Node, op: str, *constants: str, **attrs: Any) -> None:
    """One ONNX node that works on each element.

    Args:
        e: receives the node.
        node: its operands come first.
        op: the ONNX operator.
        constants: further operands.
        attrs: ONNX attributes.
    """
    layout = common_layout(e, node)
    inputs = [e.fetch(name, layout) for name in node.inputs]
    e.store(node.output, e.emit(node.name, op, [*inputs, *constants], **attrs), layout)


def moved_axis(axis: int, layout: Layout) -> int:
    """Position of a graph's axis in a layout."""
    return axis if layout is Layout.GRAPH else NHWC_TO_NCHW.index(axis)


def moved_values(values: tuple[Any, ...], layout: Layout) -> tuple[Any, ...]:
    """Values for each axis of the graph, in the order of a layout."""
    if layout is Layout.GRAPH:
        return values
    return tuple(values[axis] for axis in NHWC_TO_NCHW)


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


class QdqEmitter(Emitter):
    """An `Emitter` whose values pass through QuantizeLinear and DequantizeLinear."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self._parameters: dict[QuantParams, tuple[list[str], dict[str, int]]] = {}
        self._codes: dict[str, str] = {}

    def settle(self, name: str, tensor: str) -> str:
        """Quantize and dequantize, unless the value exists only inside a fused operator."""
        value = self.graph.values[name]
        if value.quant is None or is_fused_away(self.graph, name):
            return tensor
        inputs, attrs = self._shared(name, value.quant)
        codes = self.emit(self.names[name], "QuantizeLinear", [tensor, *inputs], **attrs)
        real = self.emit(self.names[name], "DequantizeLinear", [codes, *inputs], **attrs)
        self._codes[real] = codes
        return real

    def settle_input(self, name: str, tensor: str) -> str:
        """An integer input is dequantized only."""
        quant = self._io_quant(name)
        if quant is None:
            return self.settle(name, tensor)
        inputs, attrs = self._shared(name, quant)
        return self.emit(self.names[name], "DequantizeLinear", [tensor, *inputs], **attrs)

    def same_quant(self, first: str, second: str) -> bool:
        """True when the parameters of both values agree."""
        values = self.graph.values
        return values[first].quant == values[second].quant

    def output_tensor(self, name: str, perm: tuple[int, ...] | None) -> str:
        """The integer codes if the original model's output was an integer."""
        tensor, quant = super().output_tensor(name, perm), self._io_quant(name)
        if quant is None:
            return tensor
        if quant == self.graph.values[name].quant and tensor in self._codes:
            return self._codes[tensor]
        inputs, attrs = self._shared(name, quant)
        return self.emit(self.names[name], "QuantizeLinear", [tensor, *inputs], **attrs)

    def input_dtype(self, value: Value) -> DType:
        """The model's own integer type for integer inputs."""
        quant = self._io_quant(value.name)
        return super().input_dtype(value) if quant is None else quant.dtype

    def output_dtype(self, value: Value) -> DType:
        """The model's own integer type for integer outputs."""
        quant = self._io_quant(value.name)
        return super().output_dtype(value) if quant is None else quant.dtype

    def _io_quant(self, name: str) -> QuantParams | None:
        """Parameters of an input or output that is integer in the original model."""
        dtype, quant = integer_io_dtype(self.graph, name), self.graph.values[name].quant
        if dtype is None or quant is None:
            return None
        if dtype is not DType.UINT8:
            return quant
        # absorb_qdq moved unsigned codes by 128.
        zero_point = quant.tensor_zero_point + 128
        return QuantParams.per_tensor(quant.tensor_scale, zero_point, DType.UINT8)

    def _shared(self, stem: str, quant: QuantParams) -> tuple[list[str], dict[str, int]]:
        if quant not in self._parameters:
            self._parameters[quant] = self.quant_parameters(stem, quant)
        return self._parameters[quant]


def is_fused_away(graph: Graph, name: str) -> bool:
    """True for the value between an operator and the Clip that is fused onto it."""
    producer = graph.producers.get(name)
    return producer is not None and fused_clip(graph, producer) is not None
