"""From ranges to int8 parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, round_half_up
from edgec.ir.qparams import QuantParams

SCALE_FLOOR = 2.0**-26
"""Least scale of an activation: keeps rescaling factors below 2^30 for tensors of near zeros."""
EMPTY_SCALE = 2.0**-7
"""Scale of a tensor that is zero everywhere: any will do; this one covers [-1, 1)."""

_INT8_ALIKE = {DType.INT8: 0, DType.UINT8: 128}


@dataclass(frozen=True, slots=True)
class Range:
    """Closed interval of real values."""

    low: float
    high: float

    def union(self, other: Range) -> Range:
        """The least interval that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))

    @property
    def magnitude(self) -> float:
        """Largest absolute value."""
        return max(abs(self.low), abs(self.high))


def range_of(array: Array) -> Range:
    """Range of a finite, non-empty array."""
    return Range(float(array.min()), float(array.max()))


def activation_params(values: Range, least: int = INT8_MIN) -> QuantParams:
    """Asymmetric int8 parameters that cover a range and hold zero exactly.

    The range is widened to hold 0; its ends are the codes `least` and 127 up to the rounding of the
    zero point.  A range of zero width at 0 gets `EMPTY_SCALE`, and no scale is below `SCALE_FLOOR`.

    Raises:
        QuantizationError: an end is not finite.
    """
    low, high = min(values.low, 0.0), max(values.high, 0.0)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise QuantizationError(f"the range [{low}, {high}] is not finite")
    if low == high:
        return QuantParams.per_tensor(EMPTY_SCALE, 0)
    # QDQ ONNX stores scales as float32; both must mean the same.
    scale = float(np.float32(max((high - low) / (INT8_MAX - least), SCALE_FLOOR)))
    zero_point = int(round_half_up(-low / scale)) + least
    return QuantParams.per_tensor(scale, min(max(zero_point, least), INT8_MAX))


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
