"""The form in which an operator ends, from the scales of its tensors.

A converter knows what an operator computes; the rules of its network know in which form: `Rules`
are edgec's own, one rounding a result, `tflm.rules` has those of TensorFlow Lite Micro.  They serve
tensors of int8 and int16 in any mixture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from edgec.base.dtypes import Array, DType
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import (
    INT8_MAX,
    INT8_MIN,
    INT16_MAX,
    INT32_MAX,
    Requant,
    Requant16x15,
    round_half_up,
)
from edgec.base.portable_functions import LOG2_E
from edgec.base.tflite_arithmetic import quantized_factor
from edgec.ir import ops, qops
from edgec.ir.fusion import act_bounds
from edgec.ir.graph import Constant
from edgec.ir.qparams import QuantParams
from edgec.quant.common.numbers import distance_numbers, exponential_bits
from edgec.quant.common.params import lut, softmax_bits, softmax_table
from edgec.quant.convert.codes import Coded, Output
from edgec.quant.convert.lines import line
from edgec.quant.convert.softmax16 import SoftmaxParts, softmax16

_MOST_SUM_SHIFT = 30
INT8_REACH = 129.0
"""Largest code magnitude, and one, that an int8 output needs through its 16 bits."""


SingleForm: TypeAlias = qops.Requant31 | qops.TwoRoundings31 | qops.Rescale16x15
"""Forms of operators with one factor."""


@dataclass(frozen=True, slots=True)
class Single:
    """The end of an operator with one factor.

    Attributes:
        form: the requantization; that of sums of 64 bits in products of matrices alone.
        multiplier: for all elements.
        bias: added to the accumulator; 0 where the form has the zero point.
    """

    form: SingleForm | qops.Once15
    multiplier: int
    bias: int = 0


@dataclass(frozen=True, slots=True)
class Mean:
    """The end of a mean over windows.

    Attributes:
        form: what makes codes of sums.
        multipliers: by the number of elements of a sum; None: the form divides.
    """

    form: qops.Requant31 | qops.CodeMean
    multipliers: Array | None


class Rules:
    """edgec's own: results are rounded once."""

    def sum(self, a: Coded, b: Coded, y: Output, *, subtracts: bool) -> qops.SumForm:
        """The sum or difference of two tensors.

        Raises:
            QuantizationError: the output scale is far too small.
        """
        if y.in_stream:
            return qops.CodeSum.of_stream(y.dtype)
        first, second, shift = sum_multipliers(a, b, y)
        return qops.AddParams(
            a_zero_point=a.zero_point,
            b_zero_point=b.zero_point,
            a_multiplier=first,
            b_multiplier=-second if subtracts else second,
            shift=shift,
            y_zero_point=y.zero_point,
            low=y.low,
            high=y.high,
            dtype=y.dtype,
        )

    def product(self, a: Coded, b: Coded, y: Output) -> Single:
        """The product of two tensors.

        Raises:
            QuantizationError: the factor does not fit.
        """
        return once31(a.scale * b.scale / y.scale, float(a.span * b.span), y)

    def rescaled(self, x: Coded, y: Output) -> Single:
        """A tensor in other codes; the bias holds its zero point.

        Raises:
            QuantizationError: the factor does not fit.
        """
        found = once16x15(x.scale / y.scale, float(x.span + abs(x.zero_point)), y)
        return replace(found, bias=found.bias - x.zero_point)

    def entries(self, attrs: ops.Unary | ops.Clip, x: QuantParams, y: QuantParams) -> Array:
        """The table of a function of an int8 tensor; int8 [256]."""
        return lut(attrs, x, y)

    def line(self, attrs: ops.Unary, x: Coded, y: Output) -> tuple[qops.TableRule, Array]:
        """A function of an int16 tensor, and its table."""
        return line(attrs, x, y)

    def bounds(self, clip: ops.Clip, y: QuantParams, limits: tuple[int, int]) -> tuple[int, int]:
        """The codes of the bounds of a Clip, within limits."""
        least, most = limits
        if y.dtype is not DType.INT16:
            first, last = act_bounds(clip.low, clip.high, y.tensor_scale, y.tensor_zero_point)
            return max(first, least), max(last, least)

        def code(real: float) -> int:
            if math.isinf(real):
                return most if real > 0 else least
            return int(round_half_up(min(max(real / y.tensor_scale, least), most)))

        return code(clip.low), code(clip.high)

    def requantized(
        self, factors: Array, bounds: npt.ArrayLike, y: Output
    ) -> tuple[qops.Requantization, Array]:
        """The end of a layer with weights, and its multipliers: int32 [O].

        Args:
            factors: steps of the output in a step of each sum; float64 [O].
            bounds: largest magnitude of each sum.
            y: the output.

        Raises:
            QuantizationError: an accumulator could exceed int32, or a factor is out of range.
        """
        found = requant31(factors, float(np.max(bounds)), y.where)
        return form31(found.shift, y), found.multiplier

    def sum_end(self, x: Coded, count: int, y: Output, *, mean: bool) -> Single:
        """The end of a sum, or mean, of elements of x.

        Raises:
            QuantizationError: the factor does not fit.
        """
        once = once16x15 if DType.INT16 in (x.dtype, y.dtype) else once31
        factor = x.scale / y.scale
        return once(factor / count if mean else factor, float(x.span * count), y)

    def product_end(self, a: Coded, b: Coded, y: Output, bound: float, scale: float) -> Single:
        """The end of sums of products of elements of a and b.

        Args:
            a, b: the operands.
            y: the output.
            bound: largest magnitude of a sum.
            scale: multiplies the result.

        Raises:
            QuantizationError: the factor does not fit.
        """
        once = once31 if DType.INT16 in (a.dtype, b.dtype, y.dtype) else once16x15
        return once(a.scale * b.scale / y.scale * scale, bound, y)

    def softmax(self, scale: float, row: int, y: Output) -> SoftmaxParts:
        """A softmax, by 31 bits.

        Args:
            scale: what a step of its input stands for.
            row: how many elements are added up.
            y: the output.

        Raises:
            QuantizationError: the codes of the output have no such rule.
        """
        found = requant31(y.scale, float(row) * 2.0 ** softmax_bits(row), y.where)
        rule = qops.Quotients(int(found.multiplier[0]), found.shift, y.zero_point, y.low, y.high)
        return SoftmaxParts(rule, (softmax_table(scale, row),))

    def softmax16(self, scale: float, row: int, y: Output) -> SoftmaxParts:
        """A softmax of int16 codes, by interpolated tables.

        Args:
            scale: what a step of its input stands for.
            row: how many elements are added up.
            y: the output.

        Raises:
            QuantizationError: there is none, see `has_softmax16`.
        """
        return softmax16(scale, row, y)

    def mean(self, x: Coded, attrs: ops.AveragePool, y: Output) -> Mean:
        """The end of a mean over windows, by 31 bits.

        Raises:
            QuantizationError: sums are not bounded by int32, or the factors do not fit.
        """
        taps = math.prod(attrs.kernel)
        factors = np.concatenate([[0.0], x.scale / y.scale / np.arange(1, taps + 1)])
        found = requant31(factors, float(x.span * taps), y.where)
        return Mean(form31(found.shift, y), found.multiplier)

    def rectifier(self, x: Coded, slope: Constant, y: Output) -> tuple[qops.QPRelu, Array]:
        """A parametric rectifier, and its slopes: [C] or [1].

        Raises:
            QuantizationError: the output scale is far too small.
        """
        real = np.asarray(slope.real(), np.float64).reshape(-1)
        factors = np.concatenate([[1.0], real]) * (x.scale / y.scale)
        found = requant31(factors, x.span, y.where)
        return qops.QPRelu(form31(found.shift, y), int(found.multiplier[0])), found.multiplier[1:]


class Rules16x15(Rules):
    """edgec's own, by 16 by 15 bits where there is a choice."""

    def product(self, a: Coded, b: Coded, y: Output) -> Single:
        """The product of two tensors."""
        return once16x15(a.scale * b.scale / y.scale, float(a.span * b.span), y)

    def sum_end(self, x: Coded, count: int, y: Output, *, mean: bool) -> Single:
        """The end of a sum, or mean."""
        factor = x.scale / y.scale
        return once16x15(factor / count if mean else factor, float(x.span * count), y)

    def product_end(self, a: Coded, b: Coded, y: Output, bound: float, scale: float) -> Single:
        """The end of sums of products."""
        return once16x15(a.scale * b.scale / y.scale * scale, bound, y)

    def softmax(self, scale: float, row: int, y: Output) -> SoftmaxParts:
        """By powers of two."""
        bits = exponential_bits(row, y.where)
        numbers = distance_numbers(scale * LOG2_E, bits, INT8_MAX - INT8_MIN)
        return SoftmaxParts(qops.Octaves(*numbers, bits))


def sum_multipliers(a: Coded, b: Coded, y: Output) -> tuple[int, int, int]:
    """Multipliers and shift of a sum: the largest shift whose sums fit int32.

    Raises:
        QuantizationError: none fits, that is the output scale is far too small.
    """
    factors = np.array([a.scale, b.scale]) / y.scale
    for shift in range(_MOST_SUM_SHIFT if factors.max() < INT32_MAX else 0, 0, -1):
        # Magnitudes are rounded, so that x - x is 0 whatever the scale.
        first, second = (int(m) for m in round_half_up(factors * 2.0**shift))
        if a.span * first + b.span * second + 2 ** (shift - 1) <= INT32_MAX:
            return first, second, shift
    raise QuantizationError(
        "rescaling factors {:.3g} and {:.3g} are too large for 32-bit integers".format(*factors),
        where=y.where,
        hint="the output scale is far smaller than the input scales; recalibrate",
    )


def form31(shift: int, y: Output) -> qops.Requant31:
    """The requantization by 31 bits to an output."""
    return qops.Requant31(shift, y.zero_point, y.low, y.high, y.dtype)


def once31(factor: float, bound: float, y: Output) -> Single:
    """The end of an operator with one factor, by 31 bits.

    Args:
        factor: what a unit of an accumulator is in output steps.
        bound: largest magnitude of an accumulator.
        y: the output.

    Raises:
        QuantizationError: an accumulator could exceed int32, or the factor is out of range.
    """
    found = requant31(factor, bound, y.where)
    return Single(form31(found.shift, y), int(found.multiplier[0]))


def requant31(factors: npt.ArrayLike, bound: float, where: str) -> Requant:
    """`Requant.from_real`, with the node's name in errors.

    Raises:
        QuantizationError: an accumulator could exceed int32, or a factor is out of range.
    """
    check_bound(bound, where)
    try:
        return Requant.from_real(factors, int(bound))
    except QuantizationError as error:
        raise QuantizationError(error.what, where=where, hint=error.hint) from error


def check_bound(bound: float, where: str) -> None:
    """Check that accumulators fit 32 bits.

    Raises:
        QuantizationError: they do not.
    """
    if bound > INT32_MAX:
        raise QuantizationError(
            f"its accumulators could reach {bound:.3g}, beyond 32 bits",
            where=where,
            hint="split the operator; it sums too many elements",
        )


def once16x15(factor: float, bound: float, y: Output) -> Single:
    """As `once31`, by 16 by 15 bits: the bias holds the zero point."""
    zero = y.zero_point / factor if factor else 0.0
    reach = INT8_REACH if y.dtype is DType.INT8 else float(INT16_MAX + 1)
    try:
        found = Requant16x15.from_real(factor, bound + abs(zero), reach)
    except QuantizationError as error:
        raise QuantizationError(error.what, where=y.where, hint=error.hint) from error
    form = qops.Rescale16x15(found.pre_shift, found.shift, y.low, y.high, y.dtype)
    return Single(form, int(found.multiplier[0]), int(round_half_up(zero)))


def fine_numbers(
    a: Coded, b: Coded, y: Output, factors: Sequence[float]
) -> tuple[int, int, int, int, int, int, int, int, int] | None:
    """The first numbers of `qops.TfliteSumNumbers`; None where a factor exceeds 1.

    Args:
        a, b, y: the tensors.
        factors: those of a, b and y.
    """
    (a_multiplier, a_shift), (b_multiplier, b_shift), (y_multiplier, y_shift) = (
        quantized_factor(factor) for factor in factors
    )
    if max(a_shift, b_shift, y_shift) > 0:
        return None
    own = a_multiplier, -a_shift, b_multiplier, -b_shift, y_multiplier, -y_shift
    return (a.zero_point, b.zero_point, *own, y.zero_point)


def quotient_numbers(a: Coded, b: Coded, y: Output) -> tuple[int, int, int] | None:
    """Multiplier, left and right shift of a quotient; None where it is too large."""
    factor = a.scale / b.scale / y.scale
    narrow = a.dtype is b.dtype is y.dtype is DType.INT8
    bits, most_left = (22, 0) if narrow else (16, qops.QDiv.MOST_LEFT)
    shift = bits - math.frexp(factor)[1]
    if not narrow and round_half_up(factor * 2.0**shift) >> bits:
        shift -= 1
    right, left = min(max(shift, 0), bits), max(-shift, 0)
    if left > most_left:
        return None
    return max(int(round_half_up(factor * 2.0 ** (right - left))), 1), left, right
