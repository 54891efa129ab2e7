"""Values of the float network on the calibration data: extremes, and rows to measure errors on.

A *row* is the last axis of a tensor: a token's features, a pixel's channels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.floatrun.activations import activations
from edgec.ir.graph import Graph
from edgec.quant.common.params import Range
from edgec.quant.common.progress import Progress, check_finite

MOST_ROWS = 2048
"""Rows of a value that are kept."""
_GOLDEN = 0x9E3779B97F4A7C15
"""2**64 over the golden ratio, as an odd number."""
_SLACK = 16
"""Rows by which an even choice may miss its share; of millions of rows it is half of them."""
_MOST_GROWTH = 2.0
"""A wider reach than this would cost a bit of every code."""


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """A value over the calibration data.

    Attributes:
        low, high: extremes of each channel of the last axis over all data; float64 [C].
        rows: evenly spread rows; float32 [R, C], R <= MOST_ROWS or one a sample.
        count: number of rows that have these extremes.
    """

    low: Array
    high: Array
    rows: Array
    count: int

    @property
    def range(self) -> Range:
        """Extremes of the tensor."""
        return Range(float(self.low.min()), float(self.high.max()))

    @property
    def is_scarce(self) -> bool:
        """True where the rows are all there is: what they fit best others may not."""
        return self.count <= MOST_ROWS

    @property
    def reach(self) -> tuple[Array, Array]:
        """Extremes of each channel, widened where few rows have shown them; float64 [C] each.

        Scales per channel that end at the extremes of some hundred rows cut off what other rows
        have, in one channel or another of nearly every row.  How much further those go is what one
        half of the rows says of the other: the most by which any channel grows from half of the
        rows to all, `_MOST_GROWTH` at most.
        """
        if not self.is_scarce or len(self.rows) < 2:
            return self.low, self.high
        half, middle = (self.high - self.low) / 2, len(self.rows) // 2
        growth = 1.0
        for part in (self.rows[:middle], self.rows[middle:]):
            shown = np.ptp(part.astype(np.float64), axis=0) / 2
            growth = max(growth, float(np.divide(half, shown, where=shown > 0.0, out=shown).max()))
        more = (min(growth, _MOST_GROWTH) - 1.0) * half
        return self.low - more, self.high + more

    def reaching(self, more: Seen) -> Seen:
        """This value, with extremes that others have, too."""
        return replace(
            self, low=np.minimum(self.low, more.low), high=np.maximum(self.high, more.high)
        )

    @property
    def magnitude(self) -> Array:
        """Largest absolute value of each channel; float64 [C]."""
        return np.maximum(np.abs(self.low), np.abs(self.high))


def collect(
    graph: Graph,
    names: Sequence[str],
    data: Mapping[str, Array],
    progress: Progress | None = None,
) -> dict[str, Seen]:
    """Run the float network.

    Args:
        graph: REAL stage.
        names: values to observe.
        data: from `checked_calibration`.
        progress: told after each batch.

    Raises:
        QuantizationError: an activation is NaN or infinite.
    """
    samples = len(next(iter(data.values())))
    found: dict[str, Seen] = {}
    for done, batch in activations(graph, names, data):
        for name, values in batch.items():
            check_finite(name, values)
            rows = values.reshape(-1, values.shape[-1])
            before = found.get(name)
            first = 0 if before is None else before.count
            taken = _spread(first, len(rows), _rows(graph, name) * samples)
            found[name] = _joined(before, rows, rows[taken] if taken.any() else rows[:1])
        if progress is not None:
            progress(done, samples)
    return found


def _rows(graph: Graph, name: str) -> int:
    return math.prod(graph.shape(name)[:-1])


def _spread(first: int, count: int, total: int) -> Array:
    """Choose `MOST_ROWS` of `total` rows; of them the `count` from `first` on, bool [count].

    Multiples of the golden ratio, without their whole parts, fill the unit interval evenly in every
    arithmetic progression of rows: positions and channels of a tensor that recur in each sample
    are all seen.  A row is taken where they lie below the share that is wanted.
    """
    if total <= MOST_ROWS:
        return np.ones(count, bool)
    places = np.arange(first, first + count, dtype=np.uint64) * np.uint64(_GOLDEN)
    return np.asarray(places < np.uint64((MOST_ROWS - _SLACK) * 2**64 // total))


def _joined(seen: Seen | None, rows: Array, part: Array) -> Seen:
    low, high = (extreme.astype(np.float64) for extreme in (rows.min(axis=0), rows.max(axis=0)))
    if seen is None:
        return Seen(low, high, part.copy(), len(rows))
    joined, count = np.concatenate([seen.rows, part]), seen.count + len(rows)
    return Seen(np.minimum(low, seen.low), np.maximum(high, seen.high), joined, count)
