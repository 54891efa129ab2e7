"""Conversion of a node of an annotated graph: all parameters and integer weights are there."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT16_MAX, INT16_MIN
from edgec.ir import ops, qops
from edgec.ir.fusion import act_bounds
from edgec.ir.graph import Node, Value
from edgec.ir.operator import Operands
from edgec.ir.qparams import QuantParams
from edgec.quant.convert.context import Coded, Conversion, LayerParts, Single, Wide

_WIDE_BITS = 7
"""A centred int8 code, at most 255, fits int16 when shifted left by this many bits."""


def exactly_int16(quant: QuantParams) -> tuple[qops.QRescale, QuantParams]:
    """What makes int16 codes of int8 ones without rounding, and the parameters of these."""
    # A product is rounded by one bit at least, so the multiplier has one more.
    form = qops.Rescale16x15(0, 1, INT16_MIN, INT16_MAX, DType.INT16)
    attrs = qops.QRescale(form, 2 << _WIDE_BITS, -quant.tensor_zero_point)
    unit = float(np.ldexp(quant.tensor_scale, -_WIDE_BITS))
    return attrs, QuantParams.per_tensor(unit, 0, DType.INT16)


@dataclass(frozen=True, slots=True, eq=False)
class AnnotatedConversion(Conversion):
    """A node, with the Clip fused onto it; the builder holds all constants already.

    Attributes:
        clip: the Clip it absorbs, or None.
    """

    FORM = qops.Requant31

    clip: Node | None

    def operand(self, name: str) -> Coded:
        """The tensor itself."""
        return Coded(name, self.graph.tensor(name).quant)

    def wide(self, name: str) -> Wide:
        """The int16 tensor of an int8 value, exactly: ``(q - zero_point) * 2**7``."""
        value = self.graph.values[name]
        attrs, wide = exactly_int16(self.graph.quant(name))
        unit = wide.tensor_scale
        for made in self.builder.nodes.values():
            if isinstance(made.attrs, qops.QRescale) and made.first == name:
                return Wide(made.output, unit)
        stem = f"{name}/int16"
        widened = replace(value, name=self.builder.fresh(stem), dtype=DType.INT16, quant=wide)
        self.builder.value(replace(widened, form_of=name))
        inputs = qops.QRescale.Inputs(name)
        self.builder.node(stem, attrs, inputs, (widened.name,), self.node.sources)
        return Wide(widened.name, unit)

    def layer(self) -> LayerParts:
        """The annotated weights as they are, requantized by 31 bits.

        Raises:
            QuantizationError: the accumulators are not bounded by int32.
        """
        inputs = ops.layer_inputs(self.node)
        outputs = self.graph.shape(inputs.w)[0]
        names = inputs.w, inputs.b or self.int32("bias", np.zeros(outputs))
        scale = np.asarray(self.graph.quant(inputs.w).scale)
        return self.layer31(self.operand(inputs.x), names, scale)

    def single(self, factor: float, bound: float) -> Single:
        """By 31 bits."""
        return self.single31(factor, bound)

    @property
    def y(self) -> QuantParams:
        """Parameters of the output, or of what the fused Clip makes of it."""
        return self.graph.quant(self._output)

    @property
    def act_bounds(self) -> tuple[int, int]:
        """Least and largest code of the output: bounds of the fused Clip, if there is one."""
        if self.clip is None:
            return INT8_MIN, INT8_MAX
        attrs, y = self.clip.attrs_as(ops.Clip), self.y
        return act_bounds(attrs.low, attrs.high, y.tensor_scale, y.tensor_zero_point)

    def emit(self, attrs: qops.IntegerOperator, inputs: Operands[str]) -> None:
        """Add the integer node for the operator and its Clip."""
        value = self.graph.values[self._output]
        dtype = value.quant.dtype if value.quant is not None else DType.INT32
        self.builder.value(replace(value, dtype=dtype))
        node = Node(self.node.name, attrs, inputs.names(), (self._output,), self._sources)
        self.builder.put(node)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """Shape of the output."""
        return self.graph.shape(self._output)

    def reshaped(self, name: str, shape: tuple[int, ...]) -> str:
        """A tensor in another shape."""
        value = self.builder.values[name]
        made = replace(value, name=self.builder.fresh(f"{name}/rows"), shape=shape)
        self.builder.value(made)
        inputs = qops.QReshape.Inputs(name).names()
        self.builder.node(made.name, qops.QReshape(shape), inputs, (made.name,), self.node.sources)
        return made.name

    def intermediate(
        self, attrs: qops.IntegerOperator, inputs: Operands[str], shape: tuple[int, ...]
    ) -> str:
        """The output of one more node: the codes of this node's output in another shape."""
        name = self.builder.fresh(f"{self._output}/rows")
        self.builder.value(Value(name, shape, self.y.dtype, self.y, self._output))
        self.builder.node(name, attrs, inputs.names(), (name,), self._sources)
        return name

    @property
    def _sources(self) -> tuple[str, ...]:
        return self.node.sources + (self.clip.sources if self.clip else ())

    @property
    def _output(self) -> str:
        return self.node.output if self.clip is None else self.clip.output
