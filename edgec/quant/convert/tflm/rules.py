"""The rules of TensorFlow Lite Micro: results are rounded twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from edgec.base.dtypes import Array, DType
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT32_MAX
from edgec.base.tflite_arithmetic import quantized_factor
from edgec.ir import ops, qops
from edgec.ir.graph import Constant
from edgec.ir.qparams import QuantParams
from edgec.quant.convert.codes import SPAN, Coded, Output
from edgec.quant.convert.rules import Mean, Rules, Single, fine_numbers
from edgec.quant.convert.softmax16 import SoftmaxParts
from edgec.quant.convert.tflm import tables
from edgec.quant.convert.tflm.act_codes import act_codes
from edgec.quant.convert.tflm.softmax import exponentials31, scaled_step

_ROOM = 2.0**30
"""Kernels double what they multiply, which must stay within int32; the product of two int16, which
may be this large, has a function of its own."""


def is_code_mean(attrs: ops.AveragePool) -> bool:
    """Whether TensorFlow Lite Micro has such a mean: one of raw codes, whatever the scales."""
    return not attrs.count_include_pad and attrs.dilations == (1, 1)


def _divided(multiplier: int, shift: int, count: int) -> tuple[int, int]:
    """A factor divided by a number of elements, rounded down.

    Source: TensorFlow Lite, kernels/internal/reference/reduce.h (QuantizedMeanOrSum).
    """
    more = min(count.bit_length() - 1, 32, 31 + shift)
    return (multiplier << more) // count, shift - more


class TflmRules(Rules):
    """The rules of TensorFlow Lite Micro: results are rounded twice."""

    def __init__(self, own: Rules | None = None) -> None:
        """For networks whose other operators follow these rules, too.

        Args:
            own: the rules where TensorFlow Lite Micro refuses the scales; None: so does edgec.
        """
        self._own = own

    def sum(self, a: Coded, b: Coded, y: Output, *, subtracts: bool) -> qops.SumForm:
        """In fine steps; of int16 codes of one scale as they are, for then these steps are exact.

        Source: TensorFlow Lite Micro, micro/kernels/add_common.cc and sub_common.cc.
        """
        narrow = DType.INT16 not in (a.dtype, b.dtype)
        alike = a.params == b.params == y.quant and (a.zero_point, a.dtype) == (0, DType.INT16)
        if alike and not subtracts:
            return qops.CodeSum(y.low, y.high, y.dtype)
        bits = 20 if narrow else 15
        # A difference of int8 is computed in float32.
        kind = np.float32 if subtracts and narrow else np.float64
        scales = [kind(scale) for scale in (a.scale, b.scale, y.scale)]
        unit = kind(2) * max(scales[:2])
        factors = scales[0] / unit, scales[1] / unit, unit / (kind(1 << bits) * scales[2])
        numbers = fine_numbers(a, b, y, [float(factor) for factor in factors])
        if numbers is None:
            return self._others(y).sum(a, b, y, subtracts=subtracts)
        return qops.TfliteSum(*numbers, y.low, y.high, bits, y.dtype, subtracts)

    def product(self, a: Coded, b: Coded, y: Output) -> Single:
        """By two roundings."""
        found = two_roundings31(a.scale * b.scale / y.scale, float(a.span * b.span), y)
        return self._others(y).product(a, b, y) if found is None else found

    def rescaled(self, x: Coded, y: Output) -> Single:
        """By two roundings.

        Source: TensorFlow Lite, kernels/internal/reference/requantize.h.
        """
        found = two_roundings31(x.scale / y.scale, float(x.span), y)
        if found is None:
            return self._others(y).rescaled(x, y)
        return replace(found, bias=-x.zero_point)

    def entries(self, attrs: ops.Unary | ops.Clip, x: QuantParams, y: QuantParams) -> Array:
        """By the rule of the function; edgec's own where there is none."""
        found = tables.table(attrs, x, y)
        return super().entries(attrs, x, y) if found is None else found

    def rectifier(self, x: Coded, slope: Constant, y: Output) -> tuple[qops.QPRelu, Array]:
        """With slopes that are codes; where they are no codes of one scale, by other rules."""
        quant = slope.quant
        if quant is None or quant.axis is not None:
            return self._others(y).rectifier(x, slope, y)
        below = x.scale * quant.tensor_scale / y.scale
        ends = (x.scale / y.scale, float(x.span)), (below, float(x.span * SPAN))
        attrs = rectifier31(*ends, y)
        if attrs is None:
            return self._others(y).rectifier(x, slope, y)
        steps = slope.array.reshape(-1).astype(np.int16) - np.int16(quant.tensor_zero_point)
        return attrs, steps

    def bounds(self, clip: ops.Clip, y: QuantParams, _limits: tuple[int, int]) -> tuple[int, int]:
        """The codes of the bounds of a Clip, in float32."""
        return act_codes(clip, y)

    def requantized(
        self, factors: Array, bounds: npt.ArrayLike, y: Output
    ) -> tuple[qops.Requantization, Array]:
        """Rounded twice.

        The scales are multiplied in double precision, also those of fully connected layers, where
        TensorFlow Lite Micro took float32 in earlier years.

        Raises:
            QuantizationError: TensorFlow Lite would shift an accumulator out of 32 bits.

        Source: TensorFlow Lite, kernels/kernel_util.cc (PopulateConvolutionQuantizationParams,
        GetQuantizedConvolutionMultipler).
        """
        numbers = [quantized_factor(float(factor)) for factor in factors]
        multipliers, shifts = (np.array(column) for column in zip(*numbers, strict=True))
        if np.any(np.asarray(bounds) * 2.0 ** np.maximum(shifts, 0) > INT32_MAX):
            raise QuantizationError(
                "an accumulator, shifted left for an output scale that is far smaller than the "
                "input scales, could leave 32 bits",
                where=y.where,
                hint="quantize the model again, or add --rounding edgec",
            )
        form = qops.TwoRoundings31(tuple(map(int, shifts)), y.zero_point, y.low, y.high, y.dtype)
        return form, multipliers.astype(np.int32)

    def sum_end(self, x: Coded, count: int, y: Output, *, mean: bool) -> Single:
        """Rounded twice; edgec's own where sums could leave 32 bits."""
        multiplier, shift = quantized_factor(x.scale / y.scale)
        if mean:
            multiplier, shift = _divided(multiplier, shift, count)
        found = _single_twice(multiplier, shift, float(x.span * count), y, float(INT32_MAX) + 1)
        if found is None:
            return self._others(y).sum_end(x, count, y, mean=mean)
        return found

    def product_end(self, a: Coded, b: Coded, y: Output, bound: float, scale: float) -> Single:
        """Rounded twice; the scales of the operands meet in float32."""
        product = float(np.float32(a.scale) * np.float32(b.scale))
        found = _single_twice(*quantized_factor(product / y.scale), bound, y)
        if found is None or scale != 1.0:
            return super().product_end(a, b, y, bound, scale)
        return found

    def softmax(self, scale: float, row: int, y: Output) -> SoftmaxParts:
        """By exponentials of 31 bits; edgec's own where TensorFlow Lite Micro refuses it."""
        usual = (y.scale, y.zero_point, y.low, y.high) == (1 / 256, INT8_MIN, INT8_MIN, INT8_MAX)
        if usual and row <= qops.Reciprocal31.LONGEST and scaled_step(scale) > 1.0:
            return SoftmaxParts(qops.Reciprocal31(), (exponentials31(scale),))
        return super().softmax(scale, row, y)

    def mean(self, x: Coded, attrs: ops.AveragePool, y: Output) -> Mean:
        """The end of a mean: of raw codes, unless no window of TensorFlow Lite is like it."""
        if is_code_mean(attrs):
            return Mean(qops.CodeMean(y.low, y.high), None)
        return super().mean(x, attrs, y)

    def _others(self, y: Output) -> Rules:
        """The rules where these have none.

        Raises:
            QuantizationError: there are no others.
        """
        if self._own is None:
            raise tflm_refusal("its scales are too far apart, or its sums too long", y.where)
        return self._own


def tflm_refusal(what: str, where: str) -> QuantizationError:
    """An error of a node that TensorFlow Lite Micro does not compute either."""
    return QuantizationError(
        what,
        where=where,
        hint="edgec compiles 16x8 files as TensorFlow Lite Micro does; convert the float model "
        "to int8, or compile it as it is",
    )


def two_roundings31(factor: float, bound: float, y: Output) -> Single | None:
    """As `once31`, by two roundings; None where an accumulator would leave 32 bits."""
    multiplier, shift = quantized_factor(factor)
    if multiplier < 0 or bound * 2.0 ** max(shift, 0) > _ROOM:
        return None
    form = qops.TwoRoundings31((shift,), y.zero_point, y.low, y.high, y.dtype)
    return Single(form, multiplier)


def rectifier31(
    above: tuple[float, float], below: tuple[float, float], y: Output
) -> qops.QPRelu | None:
    """A rectifier by two roundings; None where an accumulator would leave 32 bits.

    Args:
        above, below: the factor and the bound of an accumulator on either side of 0.
        y: the output.
    """
    ends = two_roundings31(*above, y), two_roundings31(*below, y)
    match ends:
        case (
            Single(qops.TwoRoundings31() as form, multiplier),
            Single(qops.TwoRoundings31() as other, slope),
        ):
            return qops.QPRelu(form, multiplier, other, slope)
    return None


def _single_twice(
    multiplier: int, shift: int, bound: float, y: Output, room: float = _ROOM
) -> Single | None:
    """The end of an operator with one factor; None where its sums would not be below `room`."""
    if multiplier < 0 or bound * 2.0 ** max(shift, 0) >= room:
        return None
    form = qops.TwoRoundings31((shift,), y.zero_point, y.low, y.high, y.dtype)
    return Single(form, multiplier)
