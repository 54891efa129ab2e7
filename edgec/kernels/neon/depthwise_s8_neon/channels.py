"""Channels in vectors of sixteen or eight, and taps whose products 16 bits can hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.kernels.neon.layer import HALF
from edgec.kernels.neon.layer import WIDE as LANES

MOST_UNROLLED = 64
"""Filters of more taps are loops over rows and columns."""

_LARGEST_SUM = (2**15 - 1) // 128
"""Magnitudes of weights whose products with any codes add up to an int16."""


def lanes_of(channels: int) -> int:
    """Lanes of a block that holds this many channels."""
    return LANES if channels > HALF else HALF


def groups_of(weights: Array, kernel_w: int) -> tuple[tuple[int, ...], ...]:
    """Taps whose products with any codes int16 lanes can add up, in every channel.

    The product of a code with a weight is no larger than 128 |w|, so taps go together where the
    magnitudes of their weights add up to 255 at most.  Taps are taken by their largest weight, and
    each goes to the first group that has room for it.  Where a filter has more than
    `MOST_UNROLLED` taps, they stay in order: neighbours of a row two by two if that holds for all
    such pairs, else one by one.

    Args:
        weights: int8 [channels, kernel_h, kernel_w, 1].
        kernel_w: columns of a filter.

    Returns:
        numbers of taps in raster order, by group.
    """
    sizes = np.abs(weights.reshape(len(weights), -1).astype(np.int64))
    taps = sizes.shape[1]
    if taps > MOST_UNROLLED:
        pairs = tuple(
            tuple(range(first, min(first + 2, start + kernel_w)))
            for start in range(0, taps, kernel_w)
            for first in range(start, start + kernel_w, 2)
        )
        if all(sizes[:, pair].sum(axis=1).max() <= _LARGEST_SUM for pair in pairs):
            return pairs
        return tuple((tap,) for tap in range(taps))
    groups: list[list[int]] = []
    sums: list[Array] = []
    for tap in sorted(range(taps), key=lambda tap: (-int(sizes[:, tap].max()), tap)):
        for number, group in enumerate(groups):
            total = sums[number] + sizes[:, tap]
            if total.max() <= _LARGEST_SUM:
                group.append(tap)
                sums[number] = total
                break
        else:
            groups.append([tap])
            sums.append(sizes[:, tap])
    return tuple(tuple(sorted(group)) for group in groups)


def packed(weights: Array, order: Sequence[int], fold: int, lanes: int = LANES) -> Array:
    """Weights block by block, tap by tap in each.

    Args:
        weights: int8 [channels, ...].
        order: the taps in the order in which they are read.
        fold: how often the channels follow each other in a vector.
        lanes: channels of a full block, 16 or 8.

    Returns:
        int8 [values]: [blocks, taps, lanes], then [taps, 8 or 16] of the channels that are left.
    """
    rows = np.tile(weights.reshape(len(weights), -1)[:, order], (fold, 1))
    full = len(rows) // lanes * lanes
    blocks = rows[:full].reshape(-1, lanes, len(order)).transpose(0, 2, 1)
    rest = len(rows) - full
    missing = lanes_of(rest) - rest if rest else 0
    last = np.pad(rows[full:], ((0, missing), (0, 0))).T
    return np.concatenate([blocks.ravel(), last.ravel()]).astype(np.int8)


def padded(values: Array, fold: int, lanes: int = LANES) -> Array:
    """One number a channel for all lanes, zeros for those that are no channels."""
    folded = np.tile(values, fold)
    rest = len(folded) % lanes
    missing = lanes_of(rest) - rest if rest else 0
    return np.pad(folded, (0, missing))
