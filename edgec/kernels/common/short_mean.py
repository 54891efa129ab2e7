"""Means of int8 whose sums fit 16 bits: `edgec/pooling/average_s8.h`."""

from __future__ import annotations

from edgec.base.dtypes import DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir import qops

_HIGH_WORD = 32
"""Right shift of a product that leaves its high word."""
_MOST_TERMS = 128
"""Sums of as many differences of two codes of int8 fit int16."""
_MOST_LEFT = 15
"""Largest shift to the left that leaves nothing to round in the last 16 bits of a product."""


def is_short(types: tuple[DType, DType], shift: int, terms: int, has_neon: bool) -> bool:
    """Whether the functions of `edgec/pooling/average_s8.h` compute a mean.

    Args:
        types: element types of x and y.
        shift: right shift of a sum times its multiplier.
        terms: most elements of x for one of y.
        has_neon: the core has NEON, whose product of two numbers is doubled.
    """
    left = _HIGH_WORD - shift
    shifts = int(has_neon) <= left <= _MOST_LEFT
    return types == (DType.INT8, DType.INT8) and shifts and terms <= _MOST_TERMS


def left_of(output: qops.Requant31) -> int:
    """Shift of a sum to the left after which a code is the high word of one product."""
    return _HIGH_WORD - output.shift


def function_of(output: qops.Requant31) -> str:
    """The C function of a row of windows."""
    saturates = (output.low, output.high) == (INT8_MIN, INT8_MAX)
    return "edgec_average_s8" if saturates else "edgec_average_bounded_s8"
