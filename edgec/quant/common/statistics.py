"""Statistics of a float network's tensors on calibration data, channel by channel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.portable_algebra import extremes_of_columns
from edgec.floatrun.activations import MANY_SAMPLES, activations
from edgec.ir.graph import Graph


@dataclass(frozen=True, slots=True, eq=False)
class ChannelStatistics:
    """One tensor; C is the size of its last axis.

    Attributes:
        lows, highs: extremes of each channel in each sample; float64 [S, C].
        mean: mean of each channel; float64 [C].
        power: mean square of each channel; float64 [C].
        count: elements of a channel that were seen.
        finite: whether all of them are finite; infinite ones and NaN count as zero.
    """

    lows: Array
    highs: Array
    mean: Array
    power: Array
    count: int
    finite: bool = True

    def times(self, factors: Array) -> ChannelStatistics:
        """The statistics of the tensor with its channels scaled, by positive factors [C]."""
        return replace(
            self,
            lows=self.lows * factors,
            highs=self.highs * factors,
            mean=self.mean * factors,
            power=self.power * factors * factors,
        )

    @property
    def low(self) -> Array:
        """The lower extreme of each channel, zero at most; float64 [C]."""
        return np.asarray(self.lows.min(axis=0, initial=0.0))

    @property
    def high(self) -> Array:
        """The upper extreme of each channel, zero at least; float64 [C]."""
        return np.asarray(self.highs.max(axis=0, initial=0.0))

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
) -> dict[str, ChannelStatistics]:
    """Statistics of real tensors.

    Args:
        graph: REAL stage.
        names: values; those that are not float32 are left out.
        data: checked calibration data; all of it is used.
    """
    real = [name for name in names if graph.values[name].dtype is DType.FLOAT32]
    sums = {name: _Sums(graph.shape(name)[-1] if graph.shape(name) else 1) for name in real}
    before = 0
    for done, batch in activations(graph, real, data, MANY_SAMPLES):
        for name, values in batch.items():
            sums[name].update(values, done - before)
        before = done
        batch.clear()  # before the next samples are run
    return {name: found.result() for name, found in sums.items()}


_BLOCK = 1 << 15
"""Elements that are added up at a time: as many as fit the processor's cache."""


class _Sums:
    """Running sums of a tensor."""

    def __init__(self, channels: int) -> None:
        self._lows: list[Array] = []
        self._highs: list[Array] = []
        self._sum, self._squares = np.zeros(channels), np.zeros(channels)
        self._count, self._finite = 0, True

    def update(self, values: Array, samples: int) -> None:
        """Take in float32 values [..., C]; infinite ones, which a Pad may hold, count as zero."""
        rows: Array = values.reshape(samples, -1, len(self._sum))
        low, high = (each[:, 0] for each in extremes_of_columns(rows))
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            self._finite = False
            rows = np.where(np.isfinite(rows), rows, np.float32(0.0))
            low, high = (each[:, 0] for each in extremes_of_columns(rows))
        self._lows.append(low.astype(np.float64))
        self._highs.append(high.astype(np.float64))
        rows = rows.reshape(-1, len(self._sum))
        step = max(_BLOCK // len(self._sum), 1)
        for start in range(0, len(rows), step):
            block = rows[start : start + step].astype(np.float64)
            self._sum += block.sum(axis=0)
            self._squares += np.multiply(block, block, out=block).sum(axis=0)
        self._count += len(rows)

    def result(self) -> ChannelStatistics:
        """Statistics of all values so far."""
        count = max(self._count, 1)
        sums = (self._sum / count, self._squares / count)
        ends = np.concatenate(self._lows), np.concatenate(self._highs)
        return ChannelStatistics(*ends, *sums, self._count, self._finite)
