"""The proof that sums of responses fit the 16-bit lanes of a table word.

A response is monotone in every activation, so its extremes over all inputs are those of its
product sum, rounded; and the extremes of a filter's sum are the sums of its vectors' extremes.
Terms of one vector meet the same input, which need not be an extreme of each of them: their sum is
also no further from 0 than the extreme of the vector that they make up, and half a unit of rounding
for each.
They are taken over every width up to the layer's, because a width may be chosen at run time.
Padding and missing channels contribute 0, which is never beyond the extremes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import LoweringError
from edgec.base.fixedpoint import rshr
from edgec.ir.qops.pooled import round_codes
from edgec.ir.weight_pool import expand, terms_of

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
        channels: I; None: a multiple of G, and each vector has one term.

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
    """Number of uses of each vector by each filter.

    Attributes:
        vectors: int64 [V, G]: the pool, then the pool cut at the last channel, if need be.
        counts: int64 [O, V].
        weights: sums of the weights of each filter; None: vectors have one term each, and counts
            say it all.
    """

    vectors: Array
    counts: Array
    weights: _Weights | None

    @classmethod
    def of(cls, pool: Array, indices: Array, channels: int | None) -> _Counts:
        """Counts of indices [O, ..., ceil(I / G) * terms]."""
        group = pool.shape[1]
        terms = 1 if channels is None else terms_of(indices.shape[-1], channels, group)
        rest = 0 if channels is None else channels % group
        weights = None
        if channels is not None and terms > 1:
            weights = _Weights.of(expand(pool, indices, channels), indices[0].size)
        wide = pool.astype(np.int64)
        if rest == 0:
            return cls(wide, _histogram(indices, len(pool)), weights)
        cut = np.where(np.arange(group) < rest, wide, 0)
        whole, last = indices[..., :-terms], indices[..., -terms:]
        parts = [_histogram(part, len(pool)) for part in (whole, last)]
        return cls(np.concatenate([wide, cut]), np.concatenate(parts, axis=1), weights)

    def extremes(self, x_zero_point: int, bits: int, shift: int) -> tuple[int, int]:
        """Least and largest sum of responses of any filter for any input and width up to `bits`."""
        lows, highs = zip(
            *(self._at_width(x_zero_point, width, shift) for width in range(1, bits + 1)),
            strict=True,
        )
        return min(lows), max(highs)

    def _at_width(self, x_zero_point: int, bits: int, shift: int) -> tuple[int, int]:
        codes = round_codes(np.array([-_CODE_MAX - 1, _CODE_MAX]), bits)
        ends = codes - round_codes(np.array(x_zero_point), bits)
        least, most = ends[:, None, None] * self.vectors
        low = self.counts @ rshr(np.minimum(least, most).sum(1), shift)
        high = self.counts @ rshr(np.maximum(least, most).sum(1), shift)
        if self.weights is not None:
            lowest, highest = self.weights.extremes(int(ends[0]), int(ends[1]), shift)
            low, high = np.maximum(low, lowest), np.minimum(high, highest)
        return int(low.min()), int(high.max())


@dataclass(frozen=True, slots=True)
class _Weights:
    """The weights of each filter, summed up.

    Attributes:
        positive, negative: int64 [O], of the weights above and below 0.
        responses: in the sum of a filter.
    """

    positive: Array
    negative: Array
    responses: int

    @classmethod
    def of(cls, weights: Array, responses: int) -> _Weights:
        """The sums of weights int8 [O, ..., I]."""
        rows = weights.reshape(len(weights), -1).astype(np.int64)
        return cls(np.maximum(rows, 0).sum(1), np.minimum(rows, 0).sum(1), responses)

    def extremes(self, least: int, most: int, shift: int) -> tuple[Array, Array]:
        """Bounds of the sum of rounded responses of each filter, int64 [O] each.

        A response r is rounded to ``(r + half) >> shift``, which is at most ``(r + half) /
        2**shift`` and less than 1 below that.

        Args:
            least, most: bounds of an activation; 0 is between them.
            shift: the response shift.
        """
        low = least * self.positive + most * self.negative
        high = most * self.positive + least * self.negative
        half, unit = (1 << shift) >> 1, 1 << shift
        lowest = low + self.responses * (half - unit + 1)
        return -(-lowest >> shift), (high + self.responses * half) >> shift


def _histogram(indices: Array, size: int) -> Array:
    """int64 [O, size]: how often each number occurs in each row of indices [O, ...]."""
    rows = indices.reshape(len(indices), -1).astype(np.int64)
    flat = (np.arange(len(rows))[:, None] * size + rows).reshape(-1)
    return np.bincount(flat, minlength=len(rows) * size).reshape(len(rows), size)
