"""Conversion of a node some of whose tensors have int16 codes, in a network of searched scales."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from edgec.base.fixedpoint import INT8_MAX, INT16_MAX, INT16_MIN
from edgec.ir import ops
from edgec.ir.real import RealOperator
from edgec.quant.convert.codes import Coded, Codes16, int16_of
from edgec.quant.convert.context import LayerParts
from edgec.quant.convert.conversion import Converters, convert
from edgec.quant.convert.rules import Rules
from edgec.quant.convert.takes16 import TAKES16
from edgec.quant.precision.codes import code_limit
from edgec.quant.transformer.search import LEAST_CODE
from edgec.quant.transformer.searched import SearchedConversion
from edgec.quant.transformer.tensors import Form


def add_searched(c: SearchedConversion, converters: Converters) -> None:
    """Add the integer operator of a node: one that takes int16 codes, or one of int8 copies.

    Raises:
        InternalError: there is no converter for the operator.
        QuantizationError: an accumulator could overflow, or a rescaling factor is out of range.
    """
    own = TAKES16.get(type(c.node.attrs))
    if own is not None and _touches16(c):
        # What moves codes keeps those of its inputs, also where it joins the stream.
        moves = c.node.attrs_as(RealOperator).moves_codes
        form = c.tensors.finest(c.value) if moves else c.tensors.native(c.value)
        mixed = SearchedMixed(c.graph, c.builder, c.node, c.tensors, c.nodes, c.value, form, c.held)
        if own(mixed):
            convert(mixed, converters)
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
class SearchedMixed(SearchedConversion):
    """A node that takes its operands as int16 codes where they have such."""

    @property
    def rules(self) -> Rules:
        """With 31 bits where there are int16 codes."""
        return Rules()

    def operand(self, name: str) -> Coded:
        """The int16 tensor where there is one; a constant in int16 codes of its own."""
        if name in self.graph.constants:
            moves = self.node.attrs_as(RealOperator).moves_codes
            real = self.graph.constants[name].real64()
            quant = self.y if moves else int16_of(real, self._most)
            return Coded(self.tensors.array(f"{name}/int16", quant.quantize(real), quant), quant)
        form = self.tensors.finest(name)
        return Coded(self.tensors.as_finest(name), self.tensors.quant_of(name, form))

    def codes16(self, name: str) -> Codes16 | None:
        """The int16 codes that were chosen for it."""
        return self.int16.get(name)

    def reach_of(self, name: str) -> int:
        """The bound that was chosen with int16 codes; that of a constant's own codes."""
        return (
            self._most if name in self.graph.constants else SearchedConversion.reach_of(self, name)
        )

    @property
    def _most(self) -> int:
        """The largest int16 code of a constant operand, so that sums of products fit 32 bits."""
        if not isinstance(self.node.attrs, ops.MatMul):
            return INT16_MAX
        return min(INT16_MAX, int(code_limit(self.graph, self.node)))

    @property
    def int16(self) -> Mapping[str, Codes16]:
        """All values with int16 codes."""
        return self.tensors.plan.int16

    def layer(self) -> LayerParts:
        """Nearest codes of the weights, for the scale of the input."""
        return self._layer31()

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
        return self.bounds_of(clip)
