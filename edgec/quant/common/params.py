"""From ranges to int8 parameters, with one scale or one for each channel of the last axis.

Also look-up tables: functions of one variable over the 256 codes of an int8 tensor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, ceil_log2, round_half_up, saturate
from edgec.base.portable_functions import exp
from edgec.floatrun.codes import unary_function
from edgec.ir import ops
from edgec.ir.qparams import QuantParams

LEAST_SCALE = 2.0**-122
"""Least scale of an activation: a normal number of float32, in which files and C have it."""
EMPTY_SCALE = 2.0**-7
"""Scale of a tensor that is zero everywhere: any will do; this one covers [-1, 1)."""
LEAST_SHARE = 2.0**-26
"""Least range of a channel that counts, relative to the largest one."""

_INT8_ALIKE = {DType.INT8: 0, DType.UINT8: 128}


@dataclass(frozen=True, slots=True)
class Range:
    """Closed interval of real values."""

    low: float
    high: float

    def union(self, other: Range) -> Range:
        """The least interval that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))

    def scaled(self, factor: float) -> Range:
        """The interval with both ends as many times as far from zero."""
        return Range(self.low * factor, self.high * factor)

    @property
    def magnitude(self) -> float:
        """Largest absolute value."""
        return max(abs(self.low), abs(self.high))


def range_of(array: Array) -> Range:
    """Range of a finite, non-empty array."""
    return Range(float(array.min()), float(array.max()))


@dataclass(frozen=True, slots=True)
class Scales:
    """Scales that a tensor may have (`scales.least`).

    Attributes:
        least: the least one.
        empty: that of a tensor that is zero everywhere.
    """

    least: float = LEAST_SCALE
    empty: float = EMPTY_SCALE


ANY_SCALE = Scales()
"""All that files and C can say."""


def activation_params(
    values: Range, least: int = INT8_MIN, scales: Scales = ANY_SCALE
) -> QuantParams:
    """Asymmetric int8 parameters that cover a range and hold zero exactly.

    The range is widened to hold 0; its ends are the codes `least` and 127 up to the rounding of the
    zero point.

    Args:
        values: the range.
        least: code of the lowest value.
        scales: what the scale may be.

    Raises:
        QuantizationError: an end is not finite.
    """
    low, high = min(values.low, 0.0), max(values.high, 0.0)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise QuantizationError(f"the range [{low}, {high}] is not finite")
    if low == high:
        return QuantParams.per_tensor(float(np.float32(scales.empty)), 0)
    # QDQ ONNX stores scales as float32; both must mean the same.
    scale = float(np.float32(max((high - low) / (INT8_MAX - least), scales.least)))
    zero_point = int(round_half_up(-low / scale)) + least
    return QuantParams.per_tensor(scale, min(max(zero_point, least), INT8_MAX))


def int8_params(lows: Array, highs: Array) -> tuple[Array, Array]:
    """Scales and zero points that `activation_params` gives to many ranges.

    Args:
        lows: lower ends, finite and zero at most; float64 [N].
        highs: upper ends, finite and zero at least; float64 [N].

    Returns:
        float64 [N] each.
    """
    spans = np.maximum((highs - lows) / (INT8_MAX - INT8_MIN), LEAST_SCALE)
    scales = np.where(lows == highs, EMPTY_SCALE, spans).astype(np.float32).astype(np.float64)
    zero_points = np.floor(-lows / scales + 0.5) + INT8_MIN
    zero_points[lows == highs] = 0.0
    return scales, np.minimum(zero_points, float(INT8_MAX))


def as_int8(quant: QuantParams, where: str) -> QuantParams:
    """Pinned activation parameters as int8; uint8 ones move by 128.

    Raises:
        QuantizationError: another type, or per channel.
    """
    if quant.dtype not in _INT8_ALIKE or quant.axis is not None:
        kind = "per channel" if quant.axis is not None else quant.dtype.value
        raise QuantizationError(
            f"the model quantizes this tensor {kind}; edgec computes with int8 per tensor",
            where=where,
            hint="quantize activations to int8 or uint8, one scale a tensor",
        )
    offset = _INT8_ALIKE[quant.dtype]
    return QuantParams.per_tensor(quant.tensor_scale, quant.tensor_zero_point - offset)


def stream_unit(quant: QuantParams) -> float:
    """The scale s of a stream, of which the scales of its channels are multiples."""
    return min(quant.scale)


def per_channel(quant: QuantParams, channels: int) -> tuple[Array, Array]:
    """Scale and zero point of each channel of the last axis; float64 and int64 [channels]."""
    scale = np.broadcast_to(np.asarray(quant.scale, np.float64), (channels,))
    zero = np.broadcast_to(np.asarray(quant.zero_point, np.int64), (channels,))
    return scale, zero


SOFTMAX_BITS = 23
"""Most fraction bits of a softmax table entry: a float32's worth."""
SOFTMAX_SUM_BITS = 30
"""The sum of a row's entries stays at or below 2^30."""


def code_range(quant: QuantParams) -> Range:
    """The numbers of the least and the greatest code of a tensor quantized as a whole."""
    limits = np.iinfo(quant.dtype.numpy)
    scale, zero = quant.tensor_scale, quant.tensor_zero_point
    return Range(scale * float(limits.min - zero), scale * float(limits.max - zero))


def codes_real(quant: QuantParams) -> Array:
    """Real values of the codes -128..127; float64 [256]."""
    codes = np.arange(INT8_MIN, INT8_MAX + 1, dtype=np.float64)
    return np.asarray((codes - quant.tensor_zero_point) * quant.tensor_scale)


def lut(attrs: ops.Unary | ops.Clip, x: QuantParams, y: QuantParams) -> Array:
    """Table of `QLut`: ``table[q + 128]`` is the code of f(real value of q); int8 [256]."""
    with np.errstate(over="ignore", divide="ignore"):  # saturates below
        steps = unary_function(attrs)(codes_real(x)) / y.tensor_scale
    codes = round_half_up(np.clip(steps, -(2.0**31), 2.0**31)) + y.tensor_zero_point
    return saturate(codes).astype(np.int8)


def softmax_bits(row: int) -> int:
    """Fraction bits k of a softmax table for rows of `row` elements: row * 2^k <= 2^30."""
    return min(SOFTMAX_BITS, SOFTMAX_SUM_BITS - ceil_log2(row))


def softmax_table(scale: float, row: int) -> Array:
    """``table[d] = round(2**k * exp(-scale * d))``; int32 [256]."""
    distance = np.arange(256, dtype=np.float64)
    entries: Array = round_half_up(2.0 ** softmax_bits(row) * exp(-scale * distance))
    return entries.astype(np.int32)
