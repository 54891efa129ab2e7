"""Conversion of a node some of whose tensors have int16 codes, in a network of searched scales."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.fixedpoint import INT8_MAX, INT16_MAX, INT16_MIN
from edgec.ir import ops, qops
from edgec.ir.graph import Value
from edgec.ir.operator import Operands
from edgec.ir.qparams import QuantParams
from edgec.ir.real import RealOperator
from edgec.quant.common.params import SCALE_FLOOR
from edgec.quant.common.weights import layer_weights
from edgec.quant.convert.annotated import exactly_int16
from edgec.quant.convert.context import Coded
from edgec.quant.convert.conversion import Converters, convert
from edgec.quant.convert.mixed.context import Codes16, LayerSums, MixedConversion
from edgec.quant.convert.mixed.converters import MIXED_CONVERTERS
from edgec.quant.transformer.search import LEAST_CODE
from edgec.quant.transformer.searched import SearchedConversion
from edgec.quant.transformer.tensors import Form


def add_searched(c: SearchedConversion, converters: Converters) -> None:
    """Add the integer operator of a node: one that takes int16 codes, or one of int8 copies.

    Raises:
        InternalError: there is no converter for the operator.
        QuantizationError: an accumulator could overflow, or a rescaling factor is out of range.
    """
    own = MIXED_CONVERTERS.get(type(c.node.attrs))
    if own is not None and _touches16(c):
        # What moves codes keeps those of its inputs, also where it joins the stream.
        moves = c.node.attrs_as(RealOperator).moves_codes
        form = c.tensors.finest(c.value) if moves else c.tensors.native(c.value)
        mixed = SearchedMixed(c.graph, c.builder, c.node, c.tensors, c.nodes, c.value, form, c.held)
        if own(mixed):
            return
    convert(c, converters)


def _touches16(c: SearchedConversion) -> bool:
    """Whether a node reads or writes int16 codes other than those of a stream."""
    int16 = c.tensors.plan.int16
    if c.in_stream:
        return False
    if c.held is not None:
        # The kernels of layers with int8 inputs write int16, too.
        return c.node.first in int16 and c.tensors.quant_of(c.value, c.form).axis is None
    if isinstance(c.node.attrs, ops.Norm):
        return c.value in int16
    return not int16.keys().isdisjoint((*c.node.inputs, c.value))


@dataclass(frozen=True, slots=True, eq=False)
class SearchedMixed(SearchedConversion, MixedConversion):
    """A node that takes its operands as int16 codes where they have such."""

    form31, single = MixedConversion.form31, MixedConversion.single

    def operand(self, name: str) -> Coded:
        """The int16 tensor where there is one; a constant in int16 codes of its own."""
        if name in self.graph.constants:
            moves = self.node.attrs_as(RealOperator).moves_codes
            return self._constant(name, self.y if moves else None)
        form = self.tensors.finest(name)
        return Coded(self.tensors.as_finest(name), self.tensors.quant_of(name, form))

    def _constant(self, name: str, quant: QuantParams | None) -> Coded:
        real = self.graph.constants[name].real64()
        if quant is None:
            most = float(np.abs(real).max(initial=0.0))
            scale = float(np.float32(max(most / INT16_MAX, SCALE_FLOOR)))
            quant = QuantParams.per_tensor(scale, 0, DType.INT16)
        return Coded(self.tensors.array(f"{name}/int16", quant.quantize(real), quant), quant)

    def constant16(self, name: str) -> str:
        """A constant in the codes of the output."""
        return self._constant(name, self.y).name

    def codes16(self, name: str) -> Codes16 | None:
        """The int16 codes that were chosen for it."""
        return self.int16.get(name)

    @property
    def int16(self) -> Mapping[str, Codes16]:
        """All values with int16 codes."""
        return self.tensors.plan.int16

    def widened(self, name: str) -> Coded:
        """The int16 tensor, that of the stream, or the int8 codes with more bits."""
        if name in self.int16:
            return self.operand(name)
        if name in self.tensors.plan.stream:
            return Coded(self.tensors.as_stream(name), self.tensors.plan.stream[name])
        attrs, quant = exactly_int16(self.tensors.plan.codes[name])
        made = self.builder.fresh(f"{name}/int16")
        self.builder.value(Value(made, self.graph.shape(name), DType.INT16, quant, name))
        inputs = qops.QRescale.Inputs(self.tensors.as_codes(name))
        self.builder.node(made, attrs, inputs, (made,), self.node.sources)
        return Coded(made, quant)

    def sums(self, real: ops.Weighted.Inputs[str]) -> LayerSums:
        """Nearest codes of the weights, for the scale of the input."""
        x = self.operand(real.x)
        bias = None if real.b is None else self.graph.constants[real.b]
        found = layer_weights(self.graph.constants[real.w], bias, x.scale, self.node.name)
        steps = np.zeros(len(found.weight)) if found.bias is None else found.bias
        return LayerSums(x, self.constant("weight", found.weight), found.scale, steps)

    @property
    def limits(self) -> tuple[int, int]:
        """Least and largest code of the form that is computed."""
        match self.form:
            case Form.INT16:
                return self.int16[self.value].limits
            case Form.STREAM:
                return INT16_MIN, INT16_MAX
            case _:
                return LEAST_CODE, INT8_MAX

    @property
    def act_bounds(self) -> tuple[int, int]:
        """Least and largest code of the output: bounds of the Clip that ends the layer."""
        if self.held is None or self.held.activation is None:
            return self.limits
        clip = self.held.activation.attrs_as(ops.Clip)
        return self.bounds_of(clip.low, clip.high)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """Shape of the output."""
        return self.graph.shape(self.value)

    def reshaped(self, name: str, shape: tuple[int, ...]) -> str:
        """A tensor in another shape."""
        value = self.builder.values[name]
        made = replace(value, name=self.builder.fresh(f"{name}/rows"), shape=shape)
        self.builder.value(made)
        inputs = qops.QReshape.Inputs(name)
        self.builder.node(made.name, qops.QReshape(shape), inputs, (made.name,), self.node.sources)
        return made.name

    def intermediate(
        self, attrs: qops.IntegerOperator, inputs: Operands[str], shape: tuple[int, ...]
    ) -> str:
        """The output of one more node: the codes of this node's output in another shape."""
        name = self.builder.fresh(f"{self.value}/rows")
        self.builder.value(Value(name, shape, self.y.dtype, self.y, self.value))
        self.builder.node(name, attrs, inputs, (name,), self.node.sources)
        return name
