"""Conversion of a node of an annotated graph: all parameters and integer weights are there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT16_MAX, round_half_up
from edgec.ir import ops, qops
from edgec.ir.graph import Node, Value
from edgec.ir.operator import Operands
from edgec.ir.qparams import QuantParams
from edgec.ir.real import RealOperator
from edgec.quant.convert.codes import Coded, Codes16, Output, exactly_int16, int16_of
from edgec.quant.convert.context import Conversion, LayerParts, Wide
from edgec.quant.convert.rules import Rules, once16x15

INT8_LIMITS = INT8_MIN, INT8_MAX


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatedConversion(Conversion):
    """A node, with the Clip fused onto it; the builder holds all constants already.

    Attributes:
        clip: the Clip it absorbs, or None.
        rules: the forms in which operators end.
        int16: the values with int16 codes by name, if the node reads or writes one; the others
            have the parameters of the graph.
        constants: real numbers of constant operands by name, which the graph has in int8 codes.
        narrow: the node reads int8 copies of int16 values, and writes one: its operator has no form
            for int16.
    """

    clip: Node | None
    rules: Rules
    int16: Mapping[str, Codes16] = field(default_factory=dict)
    constants: Mapping[str, Array] = field(default_factory=dict)
    narrow: bool = False

    def operand(self, name: str) -> Coded:
        """The tensor itself; a constant beside int16 values in int16 codes of its own, or of the
        output where codes are moved.
        """
        if self.narrow and name in self.int16:
            quant = self.graph.quant(name)
            return Coded(self._int8(name, self.int16[name].quant, quant), quant)
        moves = self.node.attrs_as(RealOperator).moves_codes
        constant = name in self.constants or (moves and name in self.graph.constants)
        if constant and self.int16 and not self.narrow:
            real = self.constants.get(name)
            real = self.graph.constants[name].real64() if real is None else real
            quant = self.y if moves else int16_of(real)
            return Coded(self.builder.constant(f"{name}/int16", quant.quantize(real), quant), quant)
        found = self.codes16(name)
        return Coded(name, self.graph.tensor(name).quant if found is None else found.quant)

    def codes16(self, name: str) -> Codes16 | None:
        """The int16 codes that were chosen for it; none where there are int8 copies."""
        return None if self.narrow else self.int16.get(name)

    def widened(self, name: str) -> Coded:
        """The int16 tensor; of an int8 value, exactly ``(q - zero_point) * 2**7``."""
        if name in self.int16:
            return Coded(name, self.int16[name].quant)
        value = self.graph.values[name]
        attrs, quant = exactly_int16(self.graph.quant(name))
        for made in self.builder.nodes.values():
            # An int8 tensor has one form of 16 bits.
            widens = isinstance(made.attrs, qops.QRescale) and made.first == name
            if widens and self.builder.values[made.output].quant == quant:
                return Coded(made.output, quant)
        stem = f"{name}/int16"
        made_value = replace(value, name=self.builder.fresh(stem), dtype=DType.INT16, quant=quant)
        self.builder.value(replace(made_value, form_of=name))
        inputs = qops.QRescale.Inputs(name)
        self.builder.node(stem, attrs, inputs, (made_value.name,), self.node.sources)
        return Coded(made_value.name, quant)

    def wide(self, name: str) -> Wide:
        """As `widened`."""
        found = self.widened(name)
        return Wide(found.name, found.scale)

    def layer(self) -> LayerParts:
        """The annotated weights as they are; biases become finer where the input does.

        Raises:
            QuantizationError: the accumulators are not bounded by int32.
        """
        real = ops.layer_inputs(self.node)
        scale, x = np.asarray(self.graph.quant(real.w).scale), self.operand(real.x)
        if real.b is None:
            bias = self.int32("bias", np.zeros(self.graph.shape(real.w)[0]))
        elif self.codes16(real.x) is None:
            bias = real.b
        else:
            # The codes of a bias are steps of the product, which are finer where x is.
            finer = self.graph.quant(real.x).tensor_scale / x.scale
            codes = self.graph.constants[real.b].array.astype(np.float64) * finer
            bias = self.int32("bias", round_half_up(codes))
        return self.layer_of(x, (real.w, bias), scale)

    @property
    def y(self) -> QuantParams:
        """Parameters of the output, or of what the fused Clip makes of it."""
        found = self.codes16(self._output)
        return self.graph.quant(self._output) if found is None else found.quant

    @property
    def act_bounds(self) -> tuple[int, int]:
        """Least and largest code of the output: bounds of the fused Clip, if there is one."""
        return self.limits if self.clip is None else self.bounds_of(self.clip.attrs_as(ops.Clip))

    @property
    def limits(self) -> tuple[int, int]:
        """Least and largest code that the output may have."""
        found = self.codes16(self._output)
        return INT8_LIMITS if found is None else found.limits

    def emit(
        self,
        attrs: qops.IntegerOperator,
        inputs: Operands[str],
        made: QuantParams | None = None,
    ) -> None:
        """Add the integer node for the operator and its Clip; rescale a copy of its output."""
        value, name = self.graph.values[self._output], self._output
        if value.quant is None:
            self.builder.value(replace(value, dtype=DType.INT32))
            self._put(attrs, inputs, name)
            return
        given = self.y if made is None else made
        wide = self.int16[name] if self.narrow and name in self.int16 else None
        stored = self.y if wide is None else wide.quant
        self.builder.value(replace(value, dtype=stored.dtype, quant=stored))
        if given == stored:
            self._put(attrs, inputs, name)
            return
        copy = self.builder.fresh(f"{name}/{given.dtype.value}")
        self.builder.value(Value(copy, value.shape, given.dtype, given, name))
        self._put(attrs, inputs, copy)
        limits = self.act_bounds if wide is None else wide.limits
        self._rescale_output(Coded(copy, given), Output(stored, *limits, self.where))

    def _put(self, attrs: qops.IntegerOperator, inputs: Operands[str], name: str) -> None:
        self.builder.put(Node(self.node.name, attrs, inputs.names(), (name,), self._sources))

    def _rescale_output(self, x: Coded, y: Output) -> None:
        """Make the output of the copy that the operator writes."""
        found = once16x15(x.scale / y.scale, float(x.span), y)
        assert isinstance(found.form, qops.Rescale16x15)
        rescale = qops.QRescale(found.form, found.multiplier, found.bias - x.zero_point)
        inputs = qops.QRescale.Inputs(x.name).names()
        self.builder.node(
            f"{self._output}/rescaled", rescale, inputs, (self._output,), self._sources
        )

    def _int8(self, name: str, x: QuantParams, y: QuantParams) -> str:
        """The int8 copy of an int16 value, made once."""
        for made in self.builder.nodes.values():
            mine = isinstance(made.attrs, qops.QRescale) and made.first == name
            if mine and self.builder.values[made.output].quant == y:
                return made.output
        end = Output(y, *INT8_LIMITS, self.where)
        found = once16x15(x.tensor_scale / y.tensor_scale, float(INT16_MAX + 1), end)
        assert isinstance(found.form, qops.Rescale16x15)
        stem = self.builder.fresh(f"{name}/int8")
        self.builder.value(Value(stem, self.graph.shape(name), y.dtype, y, name))
        attrs = qops.QRescale(found.form, found.multiplier, found.bias)
        inputs = qops.QRescale.Inputs(name).names()
        self.builder.node(stem, attrs, inputs, (stem,), self.node.sources)
        return stem

    @property
    def _sources(self) -> tuple[str, ...]:
        return self.node.sources + (self.clip.sources if self.clip else ())

    @property
    def _output(self) -> str:
        return self.node.output if self.clip is None else self.clip.output
