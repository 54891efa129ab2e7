"""Statistics of a float network's tensors on calibration data, channel by channel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.floatrun.activations import activations
from edgec.ir.graph import Graph


@dataclass(frozen=True, slots=True, eq=False)
class ChannelStatistics:
    """One tensor; C is the size of its last axis.

    Attributes:
        low, high: extremes of each channel, widened to hold zero; float64 [C].
        mean: mean of each channel; float64 [C].
        power: mean square of each channel; float64 [C].
        count: elements of a channel that were seen.
    """

    low: Array
    high: Array
    mean: Array
    power: Array
    count: int

    @property
    def variance(self) -> Array:
        """Variance of each channel; float64 [C]."""
        return np.asarray(np.maximum(self.power - self.mean * self.mean, 0.0))

    @property
    def filled(self) -> Array:
        """The share of the tensor's range that each channel fills, 0 to 1."""
        low, high = float(self.low.min()), float(self.high.max())
        up = self.high / high if high > 0 else np.zeros_like(self.high)
        down = self.low / low if low < 0 else np.zeros_like(self.low)
        return np.asarray(np.maximum(up, down))

    @property
    def magnitudes(self) -> Array:
        """The largest magnitude of each channel as a share of that of the tensor, 0 to 1."""
        found = np.maximum(self.high, -self.low)
        return np.asarray(found / (float(found.max()) or 1.0))


def channel_statistics(
    graph: Graph,
    names: Iterable[str],
    data: Mapping[str, Array],
    seen: Callable[[Mapping[str, Array]], None] | None = None,
) -> dict[str, ChannelStatistics]:
    """Statistics of real tensors.

    Args:
        graph: REAL stage.
        names: values; those that are not float32 are left out.
        data: checked calibration data; all of it is used.
        seen: told the values of a few samples at a time, float32 by name.
    """
    real = [name for name in names if graph.values[name].dtype is DType.FLOAT32]
    sums = {name: _Sums(graph.shape(name)[-1] if graph.shape(name) else 1) for name in real}
    for _, batch in activations(graph, real, data):
        if seen is not None:
            seen(batch)
        for name, values in batch.items():
            sums[name].update(values)
    return {name: found.result() for name, found in sums.items()}


class _Sums:
    """Running sums of a tensor."""

    def __init__(self, channels: int) -> None:
        self._low, self._high = np.zeros(channels), np.zeros(channels)
        self._sum, self._squares = np.zeros(channels), np.zeros(channels)
        self._count = 0

    def update(self, values: Array) -> None:
        """Take in float32 values [..., C]; infinite ones, which a Pad may hold, count as zero."""
        rows = values.astype(np.float64).reshape(-1, len(self._sum))
        low, high = rows.min(axis=0), rows.max(axis=0)
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            rows = np.where(np.isfinite(rows), rows, 0.0)
            low, high = rows.min(axis=0), rows.max(axis=0)
        self._low = np.minimum(self._low, low)
        self._high = np.maximum(self._high, high)
        self._sum += rows.sum(axis=0)
        self._squares += np.multiply(rows, rows, out=rows).sum(axis=0)
        self._count += len(rows)

    def result(self) -> ChannelStatistics:
        """Statistics of all values so far."""
        count = max(self._count, 1)
        sums = (self._sum / count, self._squares / count)
        return ChannelStatistics(self._low, self._high, *sums, self._count)
