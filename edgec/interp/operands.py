"""What an oracle kernel takes and gives: codes with their zero point, and checked accumulators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError
from edgec.base.fixedpoint import INT32_MAX, INT32_MIN, saturate


@dataclass(frozen=True, slots=True, eq=False)
class Operand:
    """An input of an operator.

    Attributes:
        array: int8 codes, or int32 parameters.
        zero_point: of the codes; 0 for parameters.
    """

    array: Array
    zero_point: int = 0

    @property
    def centred(self) -> Array:
        """``array - zero_point``, int64."""
        return np.asarray(self.array.astype(np.int64) - self.zero_point)


Kernel = Callable[[Any, Sequence[Operand], int], Array]
"""(attrs, inputs, zero point of the output) -> the output's codes."""


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
