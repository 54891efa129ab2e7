"""Conversion of a node some of whose tensors have int16 codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import (
    INT8_MAX,
    INT8_MIN,
    INT16_MAX,
    round_half_up,
)
from edgec.ir import ops, qops
from edgec.ir.graph import Node, Value
from edgec.ir.operator import Operands
from edgec.ir.qparams import QuantParams
from edgec.quant.common.params import SCALE_FLOOR
from edgec.quant.convert.annotated import AnnotatedConversion
from edgec.quant.convert.context import Coded, Wide
from edgec.quant.convert.mixed.context import FIXED_SPAN, Codes16, LayerSums, MixedConversion


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatedMixed(AnnotatedConversion, MixedConversion):
    """A node, with the Clip fused onto it, each of whose tensors is int8 or int16.

    Attributes:
        int16: the values with int16 codes by name; the others have the parameters of the graph.
        constants: real numbers of constant operands by name, which the graph has in int8 codes.
    """

    int16: Mapping[str, Codes16]
    constants: Mapping[str, Array]

    def operand(self, name: str) -> Coded:
        """The tensor itself, in the type that it has; a constant in int16 codes of its own."""
        if name in self.constants:
            real = self.constants[name]
            most = float(np.abs(real).max(initial=0.0))
            scale = float(np.float32(max(most / INT16_MAX, SCALE_FLOOR)))
            quant = QuantParams.per_tensor(scale, 0, DType.INT16)
            codes = quant.quantize(real)
            return Coded(self.builder.constant(f"{name}/int16", codes, quant), quant)
        found = self.int16.get(name)
        return Coded(name, self.graph.tensor(name).quant if found is None else found.quant)

    def narrow(self, name: str) -> Coded:
        """The int8 tensor of an operand, made from the int16 one where there is only that."""
        if name not in self.int16:
            return self.operand(name)
        quant = self.graph.quant(name)
        return Coded(self._rescaled(name, self.int16[name].quant, quant, "int8"), quant)

    def widened(self, name: str) -> Coded:
        """The int16 tensor of an operand, made from the int8 one where there is only that."""
        if name in self.int16:
            return Coded(name, self.int16[name].quant)
        wide = AnnotatedConversion.wide(self, name)
        return Coded(wide.name, QuantParams.per_tensor(wide.unit, 0, DType.INT16))

    def wide(self, name: str) -> Wide:
        """As `widened`, as norms take it."""
        found = self.widened(name)
        return Wide(found.name, found.scale)

    def codes16(self, name: str) -> Codes16 | None:
        """The int16 codes that were chosen for it."""
        return self.int16.get(name)

    def sums(self, real: ops.Weighted.Inputs[str]) -> LayerSums:
        """The annotated weights; biases become finer where the input does."""
        x, weight = self.operand(real.x), self.graph.constants[real.w].array
        narrow = self.graph.quant(real.x).tensor_scale
        bias = np.zeros(len(weight)) if real.b is None else self.graph.constants[real.b].array
        if self.is16(real.x):
            # The codes of a bias are steps of the product, which are finer where x is.
            bias = round_half_up(bias.astype(np.float64) * (narrow / x.scale))
        return LayerSums(x, real.w, np.asarray(self.graph.quant(real.w).scale), bias)

    @property
    def y(self) -> QuantParams:
        """Parameters of the output, or of what the fused Clip makes of it."""
        found = self.int16.get(self._output)
        return self.graph.quant(self._output) if found is None else found.quant

    @property
    def act_bounds(self) -> tuple[int, int]:
        """Least and largest code of the output: its reach, or bounds of the fused Clip."""
        if self.clip is None:
            return self.limits
        attrs = self.clip.attrs_as(ops.Clip)
        return self.bounds_of(attrs.low, attrs.high)

    @property
    def limits(self) -> tuple[int, int]:
        """Least and largest code that the output may have."""
        found = self.int16.get(self._output)
        return (INT8_MIN, INT8_MAX) if found is None else found.limits

    form31, single = MixedConversion.form31, MixedConversion.single

    def emit(self, attrs: qops.IntegerOperator, inputs: Operands[str]) -> None:
        """Add the integer node for the operator and its Clip."""
        value = self.graph.values[self._output]
        if value.quant is None:
            AnnotatedConversion.emit(self, attrs, inputs)
            return
        self.builder.value(replace(value, dtype=self.y.dtype, quant=self.y))
        self.builder.put(
            Node(self.node.name, attrs, inputs.names(), (self._output,), self._sources)
        )

    def constant16(self, name: str) -> str:
        """A constant operand in the int16 codes of the output."""
        real = self.constants.get(name)
        codes = self.y.quantize(self.graph.constants[name].real64() if real is None else real)
        return self.builder.constant(f"{name}/int16", codes, self.y)

    def _rescaled(self, name: str, x: QuantParams, y: QuantParams, ending: str) -> str:
        """Another form of a value that exists, made once."""
        for made in self.builder.nodes.values():
            mine = isinstance(made.attrs, qops.QRescale) and made.first == name
            if mine and self.builder.values[made.output].quant == y:
                return made.output
        limits = (INT8_MIN, INT8_MAX)
        end = self.rescale(x.tensor_scale / y.tensor_scale, float(INT16_MAX + 1), y, limits)
        assert isinstance(end.form, qops.Rescale16x15)
        stem = self.builder.fresh(f"{name}/{ending}")
        made_value = Value(stem, self.graph.shape(name), y.dtype, y, name)
        self.builder.value(made_value)
        attrs = qops.QRescale(end.form, end.multiplier, end.bias)
        inputs = qops.QRescale.Inputs(name).names()
        self.builder.node(stem, attrs, inputs, (stem,), self.node.sources)
        return stem


@dataclass(frozen=True, slots=True, eq=False)
class NarrowConversion(AnnotatedMixed):
    """A node whose operator has no form for int16: it reads int8 copies, and writes one."""

    def operand(self, name: str) -> Coded:
        """The int8 tensor."""
        found = self.graph.tensor(name).quant
        return AnnotatedMixed.narrow(self, name) if name in self.int16 else Coded(name, found)

    @property
    def y(self) -> QuantParams:
        """The int8 parameters of the output."""
        return self.graph.quant(self._output)

    @property
    def limits(self) -> tuple[int, int]:
        """All int8 codes."""
        return INT8_MIN, INT8_MAX

    def emit(self, attrs: qops.IntegerOperator, inputs: Operands[str]) -> None:
        """Add the integer node and, where the value is int16, what widens its output."""
        target = self.int16.get(self._output)
        if target is None:
            AnnotatedConversion.emit(self, attrs, inputs)
            return
        value, narrow = self.graph.values[self._output], self.graph.quant(self._output)
        stem = self.builder.fresh(f"{self._output}/int8")
        self.builder.value(Value(stem, value.shape, DType.INT8, narrow, self._output))
        self.builder.put(Node(self.node.name, attrs, inputs.names(), (stem,), self._sources))
        self.builder.value(replace(value, dtype=DType.INT16, quant=target.quant))
        # Centred codes have 255 magnitudes, so a factor below 128 keeps them within int16.
        factor = narrow.tensor_scale / target.quant.tensor_scale
        end = self.rescale(factor, float(FIXED_SPAN), target.quant, target.limits)
        assert isinstance(end.form, qops.Rescale16x15)
        rescale = qops.QRescale(end.form, end.multiplier, -narrow.tensor_zero_point)
        widened = qops.QRescale.Inputs(stem).names()
        self.builder.node(f"{self._output}/int16", rescale, widened, (self._output,), self._sources)
