"""Conversion of a node of an annotated graph by the rules of TensorFlow Lite Micro."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT32_MAX
from edgec.base.twice import quantized_factor
from edgec.ir import ops, qops
from edgec.quant.common.weights import accumulator_bound
from edgec.quant.convert.annotated import AnnotatedConversion
from edgec.quant.convert.context import Coded, LayerParts, Single
from edgec.quant.convert.tflm.act_codes import act_codes


@dataclass(frozen=True, slots=True, eq=False)
class TflmConversion(AnnotatedConversion):
    """A node, with the Clip fused onto it, whose codes are to be TensorFlow Lite Micro's.

    Layers with weights end in `qops.Twice31`.  Operators of one factor whose rule is not in
    `converters` end as edgec's own do.
    """

    def layer31(self, x: Coded, names: tuple[str, str], scale: Array) -> LayerParts:
        """A layer whose integer weights and biases are chosen, rounded twice.

        The scales are multiplied in double precision, also those of fully connected layers, where
        TensorFlow Lite Micro took float32 in earlier years.

        Args:
            x: its input.
            names: constants of the integer graph: weights int8 [O, ...] and biases int32 [O].
            scale: what a weight of each output stands for, float64 [O].

        Raises:
            QuantizationError: the accumulators are not bounded by int32.

        Source: TensorFlow Lite, kernels/kernel_util.cc (PopulateConvolutionQuantizationParams,
        GetQuantizedConvolutionMultipler).
        """
        factors = scale * x.scale / self.y.tensor_scale
        numbers = [quantized_factor(float(factor)) for factor in factors]
        multipliers, shifts = (np.array(column) for column in zip(*numbers, strict=True))
        weight, bias = (self.builder.constants[name].array for name in names)
        self._need_room(accumulator_bound(weight, bias), shifts)
        multiplier = self.constant("multiplier", multipliers.astype(np.int32))
        inputs = qops.PlainLayer.Inputs(x.name, *names, multiplier)
        return LayerParts(inputs, self.twice(tuple(int(shift) for shift in shifts)))

    def single_twice(self, factor: float) -> Single:
        """The end of an operator with one factor, rounded twice."""
        multiplier, shift = quantized_factor(factor)
        return Single(self.twice((shift,)), multiplier)

    def twice(self, shifts: tuple[int, ...]) -> qops.Twice31:
        """The requantization to the output that rounds twice."""
        return qops.Twice31(shifts, self.y.tensor_zero_point, *self.act_bounds)

    @property
    def act_bounds(self) -> tuple[int, int]:
        """Least and greatest code of the output: bounds of the fused Clip, in float32."""
        if self.clip is None:
            return INT8_MIN, INT8_MAX
        attrs = self.clip.attrs_as(ops.Clip)
        return act_codes(attrs, self.y)

    def _need_room(self, bound: Array, shifts: Array) -> None:
        """Refuse accumulators that TensorFlow Lite would shift out of 32 bits."""
        if np.any(bound * 2.0 ** np.maximum(shifts, 0) > INT32_MAX):
            raise QuantizationError(
                "an accumulator, shifted left for an output scale that is far smaller than the "
                "input scales, could leave 32 bits",
                where=self.node.name,
                hint="quantize the model again, or add --rounding edgec",
            )
