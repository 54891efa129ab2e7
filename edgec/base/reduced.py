"""The end of TensorFlow Lite's layers with 16-bit activations: one rounding of a 64-bit product.

A factor of `edgec.base.twice` is reduced to a multiplier of 15 bits; a sum of up to 48 bits times
that multiplier is shifted to the right and rounded half up.

Source: TensorFlow Lite, kernels/internal/common.cc (MultiplyByQuantizedMultiplier of int64).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT16_MAX

LEAST_SHIFT, MOST_SHIFT = 8, 46
"""Right shifts of factors from 2^-31 to 2^7."""
_HALF = 1 << 15


def reduced_factor(multiplier: int, shift: int) -> tuple[int, int]:
    """Multiplier of 15 bits and right shift of a factor of `edgec.base.twice.quantized_factor`."""
    return min((multiplier + _HALF) >> 16, INT16_MAX), 15 - shift


def scaled_once(sums: npt.ArrayLike, multiplier: npt.ArrayLike, shift: npt.ArrayLike) -> Array:
    """``rshr(sums * multiplier, shift)``, broadcast; int64.

    Args:
        sums: int64, at most 48 bits.
        multiplier: 0..32767.
        shift: 8..46.
    """
    product = np.asarray(sums, np.int64) * np.asarray(multiplier, np.int64)
    bits = np.asarray(shift, np.int64)
    return np.asarray((product + (np.int64(1) << (bits - 1))) >> bits)
