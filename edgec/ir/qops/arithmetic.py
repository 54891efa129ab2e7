"""Numpy arithmetic that the oracles of integer operators share, with checks of every width."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError
from edgec.base.fixedpoint import INT32_MAX, INT32_MIN, saturate


def accumulators(values: Array) -> Array:
    """`values` as int64, after a check that an int32 accumulator holds them.

    Args:
        values: int64, or float64 that are whole numbers below 2^53.

    Raises:
        InternalError: they do not fit; the quantizer has promised that they do.
    """
    if values.size and not (values.min() >= INT32_MIN and values.max() <= INT32_MAX):
        raise InternalError("an accumulator does not fit 32 bits")
    return values.astype(np.int64)


def within32(values: Array) -> Array:
    """`values` as int64, after a check that they lie within +-(2^31 - 1).

    Args:
        values: int64, or float64 that are whole numbers below 2^53.

    Raises:
        InternalError: they do not.
    """
    if values.size and max(values.max(), -values.min()) > INT32_MAX:
        raise InternalError("an intermediate does not fit 32 bits")
    return values.astype(np.int64)


def rshr32(values: Array, shift: Array | int) -> Array:
    """`fixedpoint.rshr` in 32 bits: the sum before the shift is checked, too.

    Args:
        values: int64, any shape.
        shift: 0..30, broadcast against `values`.

    Raises:
        InternalError: the sum does not fit.
    """
    amount = np.asarray(shift, np.int64)
    half = np.where(amount > 0, np.int64(1) << np.maximum(amount - 1, 0), 0)
    return np.asarray(within32(values + half) >> amount)


def int8_clamped(values: Array, low: int, high: int) -> Array:
    """Clamped to [low, high], a part of int8; int8."""
    return saturate(values, low, high).astype(np.int8)


def bit_length(values: Array) -> Array:
    """Number of bits of int64 values in [0, 2^53); 0 for 0."""
    return np.asarray(np.frexp(values.astype(np.float64))[1].astype(np.int64))


def half_step(shift: int) -> int:
    """The addend that makes a right shift by `shift` bits round half up."""
    return 1 << (shift - 1) if shift > 0 else 0


def floor_root(values: Array) -> Array:
    """The floor of the square root of int64 values in [0, 2^50)."""
    return np.asarray(np.sqrt(values.astype(np.float64)).astype(np.int64))
