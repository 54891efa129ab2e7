"""The proof that sums of responses fit the 16-bit lanes of a table word.

A response is monotone in every activation, so its extremes over all inputs are those of its
product sum, rounded; and the extremes of a filter's sum are the sums of its vectors' extremes.
Where vectors are the terms of one group, and meet the same input, no input need reach them.
They are taken over every width up to the layer's, because a width may be chosen at run time.
Padding and missing channels contribute 0, which is never beyond the extremes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import LoweringError
from edgec.base.fixedpoint import rshr
from edgec.ir.qops.pool_rounding import round_codes
from edgec.ir.weight_pool import terms_of

_SHIFT_MAX = 15
"""Largest legal `qops.PoolRounding.response_shift`."""

_LANE_MIN, _LANE_MAX = -(2**15), 2**15 - 1

_CODE_MAX = 127


def least_response_shift(
    pool: Array, indices: Array, x_zero_point: int, bits: int, channels: int | None = None
) -> int:
    """The least response shift with which the sum of every filter fits int16, for any input.

    Args:
        pool: int8 [S, G].
        indices: [O, ..., ceil(I / G) * terms].
        x_zero_point: code of the activation 0.
        bits: the layer's activation width; sums of smaller widths fit as well.
        channels: I, if the last vector of a tap has weights beyond the last channel.

    Raises:
        LoweringError: no shift is enough.
    """
    counts = _Counts.of(pool, indices, channels)
    for shift in range(_SHIFT_MAX + 1):
        low, high = counts.extremes(x_zero_point, bits, shift)
        if low >= _LANE_MIN and high <= _LANE_MAX:
            return shift
    raise LoweringError(
        "the responses of a filter with pooled weights do not fit 16 bits at any scale",
        hint="this layer needs another kernel than pooled_conv with two lanes",
    )


def sums_fit_lanes(
    pool: Array,
    indices: Array,
    x_zero_point: int,
    bits: int,
    response_shift: int,
    channels: int | None = None,
) -> bool:
    """Whether the sum of every filter fits int16 with this response shift; as above."""
    low, high = _Counts.of(pool, indices, channels).extremes(x_zero_point, bits, response_shift)
    return low >= _LANE_MIN and high <= _LANE_MAX


@dataclass(frozen=True, slots=True)
class _Counts:
    """How often each filter uses each vector.

    Attributes:
        vectors: int64 [V, G]: the pool, then the pool cut at the last channel, if need be.
        counts: int64 [O, V].
    """

    vectors: Array
    counts: Array

    @classmethod
    def of(cls, pool: Array, indices: Array, channels: int | None) -> _Counts:
        """Counts of indices [O, ..., ceil(I / G) * terms]."""
        group = pool.shape[1]
        wide = pool.astype(np.int64)
        if channels is None or channels % group == 0:
            return cls(wide, _histogram(indices, len(pool)))
        cut = np.where(np.arange(group) < channels % group, wide, 0)
        terms = terms_of(indices.shape[-1], channels, group)
        whole, last = indices[..., :-terms], indices[..., -terms:]
        parts = [_histogram(part, len(pool)) for part in (whole, last)]
        return cls(np.concatenate([wide, cut]), np.concatenate(parts, axis=1))

    def extremes(self, x_zero_point: int, bits: int, shift: int) -> tuple[int, int]:
        """Least and largest sum of responses of any filter for any input and width up to `bits`."""
        lows, highs = zip(
            *(self._at_width(x_zero_point, width, shift) for width in range(1, bits + 1)),
            strict=True,
        )
        return min(lows), max(highs)

    def _at_width(self, x_zero_point: int, bits: int, shift: int) -> tuple[int, int]:
        ends = round_codes(np.array([-_CODE_MAX - 1, _CODE_MAX]), bits)
        least, most = (ends - round_codes(np.array(x_zero_point), bits))[:, None, None] * (
            self.vectors
        )
        high = rshr(np.maximum(least, most).sum(1), shift)
        low = rshr(np.minimum(least, most).sum(1), shift)
        return int((self.counts @ low).min()), int((self.counts @ high).max())


def _histogram(indices: Array, size: int) -> Array:
    """int64 [O, size]: how often each number occurs in each row of indices [O, ...]."""
    rows = indices.reshape(len(indices), -1).astype(np.int64)
    flat = (np.arange(len(rows))[:, None] * size + rows).reshape(-1)
    return np.bincount(flat, minlength=len(rows) * size).reshape(len(rows), size)
