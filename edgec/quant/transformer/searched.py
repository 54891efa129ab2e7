"""Conversion of a node whose parameters were searched: operands in the form that it needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.fixedpoint import INT8_MAX, INT16_MAX, INT16_MIN
from edgec.ir import ops, qops
from edgec.ir.graph import Node, Value
from edgec.ir.operator import Operands
from edgec.ir.qparams import QuantParams
from edgec.ir.real import RealOperator
from edgec.quant.common.params import EMPTY_SCALE, stream_unit
from edgec.quant.common.weights import beside_of, layer_weights
from edgec.quant.convert.codes import Coded, exactly_int16
from edgec.quant.convert.context import Conversion, LayerParts, Wide
from edgec.quant.convert.rules import Rules, Rules16x15
from edgec.quant.scales.columns import columns_of, is_column_slice
from edgec.quant.scales.groups import is_real
from edgec.quant.transformer.layer_parts import layer_parts
from edgec.quant.transformer.layers import Layer
from edgec.quant.transformer.plan import MAKERS
from edgec.quant.transformer.residual import TIES
from edgec.quant.transformer.search import LEAST_CODE
from edgec.quant.transformer.tensors import Form, Tensors


@dataclass(frozen=True, slots=True, eq=False)
class SearchedConversion(Conversion):
    """A node, with what a layer holds beyond it.

    Attributes:
        tensors: the forms of every value.
        nodes: the nodes that the integer operator stands for.
        value: the value that it computes.
        form: the form in which it computes it.
        held: the Conv or Gemm that `node` is, with what ends it; None for all other operators.
    """

    tensors: Tensors
    nodes: tuple[Node, ...]
    value: str
    form: Form
    held: Layer | None = None

    @property
    def rules(self) -> Rules:
        """By 16 by 15 bits."""
        return Rules16x15()

    def operand(self, name: str) -> Coded:
        """The codes, or the stream for an operator within it; made where they do not exist."""
        if name in self.graph.constants:
            made = self._constant_operand(name)
            return Coded(made, self.builder.constants[made].quant)
        if not is_real(self.graph, name):
            return Coded(name, None)
        if self.in_stream:
            return Coded(self.tensors.as_stream(name), self.tensors.plan.stream[name])
        return Coded(self.tensors.as_codes(name), self.tensors.plan.codes[name])

    def _constant_operand(self, name: str) -> str:
        """A constant operand: of the stream, of a move, or with parameters of its own."""
        if self.in_stream:
            return self.tensors.wide_constant(name, self.y, self.graph.shape(name))
        moves = self.node.attrs_as(RealOperator).moves_codes
        real = is_real(self.graph, self.value)
        scales = beside_of(self.y if real else None)
        return self.tensors.constant_codes(name, self.y if moves else None, scales)

    def summed(self, name: str) -> Coded:
        """The stream as it is, where it exists and has one scale."""
        stream = self.tensors.plan.stream.get(name)
        if stream is None or stream.axis is not None:
            return self.operand(name)
        if not self.tensors.is_made(name, Form.STREAM):
            return self.operand(name)
        return Coded(self.tensors.as_stream(name), stream)

    def wide(self, name: str) -> Wide:
        """The stream."""
        stream = self.tensors.plan.stream[name]
        tensor = self.tensors.as_stream(name)
        shifts = self.tensors.shifts(name) if stream.dtype is DType.INT8 else None
        return Wide(tensor, stream_unit(stream), shifts)

    def widened(self, name: str) -> Coded:
        """The int16 tensor, that of the stream, or the int8 codes with more bits."""
        if name in self.tensors.plan.int16:
            return self.operand(name)
        if name in self.tensors.plan.stream:
            return Coded(self.tensors.as_stream(name), self.tensors.plan.stream[name])
        attrs, quant = exactly_int16(self.tensors.plan.codes[name])
        made = self.builder.fresh(f"{name}/int16")
        self.builder.value(Value(made, self.graph.shape(name), DType.INT16, quant, name))
        inputs = qops.QRescale.Inputs(self.tensors.as_codes(name))
        self.builder.node(made, attrs, inputs, (made,), self.node.sources)
        return Coded(made, quant)

    def columns(self, name: str) -> tuple[Coded, int]:
        """Seen through slices of columns, which no operator computes."""
        columns = columns_of(self.graph, name)
        if columns.root not in self.graph.constants:
            return self.operand(columns.root), columns.start
        most = float(np.abs(self.graph.constants[columns.root].real64()).max())
        quant = QuantParams.per_tensor(most / INT8_MAX if most > 0 else EMPTY_SCALE, 0)
        return Coded(self.tensors.constant_codes(columns.root, quant), quant), columns.start

    def layer(self) -> LayerParts:
        """Weights whose scales make the multipliers of 16 by 15 bits exact; else by 31 bits."""
        return self._layer31() if self.held is None else layer_parts(self.tensors, self.held)

    def _layer31(self) -> LayerParts:
        """As in a network whose ranges are observed."""
        inputs, name = ops.layer_inputs(self.node), self.node.name
        bias = None if inputs.b is None else self.graph.constants[inputs.b]
        x = self.operand(inputs.x)
        found = layer_weights(self.graph.constants[inputs.w], bias, x.scale, name)
        steps = np.zeros(len(found.weight)) if found.bias is None else found.bias
        weight = self.constant("weight", found.weight)
        return self.layer_of(x, (weight, self.int32("bias", steps)), found.scale)

    @property
    def in_stream(self) -> bool:
        """Whether it is a sum or a move within the stream."""
        return self.form is Form.STREAM and isinstance(self.node.attrs, TIES)

    @property
    def y(self) -> QuantParams:
        """Parameters of the output in the form that is computed."""
        return self.tensors.quant_of(self.value, self.form)

    @property
    def act_bounds(self) -> tuple[int, int]:
        """All codes that the output may have: what clamps is a part of its layer."""
        return self.limits

    @property
    def limits(self) -> tuple[int, int]:
        """Operators do not compute the code -128 of int8."""
        return (LEAST_CODE, INT8_MAX) if self.y.dtype is DType.INT8 else (INT16_MIN, INT16_MAX)

    def emit(
        self,
        attrs: qops.IntegerOperator,
        inputs: Operands[str],
        made: QuantParams | None = None,
    ) -> None:
        """Add the node that computes the value in its form, or int32 numbers."""
        name = self.node.name
        if made is not None:
            shape = self.graph.shape(self.value)
            x = Coded(self.builder.fresh(f"{self.value}/made"), made)
            self.builder.value(Value(x.name, shape, made.dtype, made, self.value))
            self.builder.node(name, attrs, inputs, (x.name,), self.node.sources)
            end = Rules().rescaled(x, self.end)
            assert not isinstance(end.form, qops.Once15)
            attrs, inputs = (
                qops.QRescale(end.form, end.multiplier, end.bias),
                qops.QRescale.Inputs(x.name),
            )
            name = f"{name}/rescaled"
        if is_real(self.graph, self.value):
            self.tensors.put(name, attrs, inputs, self.value, self.form, self.nodes)
            return
        self.builder.value(Value(self.value, self.graph.shape(self.value), DType.INT32))
        self.builder.node(name, attrs, inputs, (self.value,), self.node.sources)


def conversions(tensors: Tensors) -> Iterator[SearchedConversion]:
    """All operators of the integer graph, in an order in which each can be added."""
    by_last = {layer.nodes[-1].name: layer for layer in tensors.plan.layers}
    held = {node.name for layer in tensors.plan.layers for node in layer.nodes}
    for node in tensors.graph.nodes:
        # A layer is added where its last node is: by then its residual exists.
        if node.name in by_last:
            layer = by_last[node.name]
            form = _layer_form(tensors, layer)
            parts = layer.node, tensors, layer.nodes, layer.output, form, layer
            yield SearchedConversion(tensors.graph, tensors.builder, *parts)
        elif node.name not in held and not is_column_slice(tensors.graph, node):
            form = _form(tensors, node)
            yield SearchedConversion(
                tensors.graph, tensors.builder, node, tensors, (node,), node.output, form
            )


def _layer_form(tensors: Tensors, layer: Layer) -> Form:
    # A table has codes of int8.
    tabled = layer.activation is not None and isinstance(layer.activation.attrs, ops.Unary)
    return Form.CODES if tabled else tensors.native(layer.output)


def _form(tensors: Tensors, node: Node) -> Form:
    """The form in which an operator that no layer holds computes its output."""
    if isinstance(node.attrs, TIES):
        values = [name for name in node.inputs if name in tensors.graph.values]
        streaming = all(name in tensors.plan.stream for name in (*values, node.output))
        return Form.STREAM if streaming else Form.CODES
    return tensors.native(node.output) if isinstance(node.attrs, MAKERS) else Form.CODES
