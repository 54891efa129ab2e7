"""Ranges of activations from calibration data, by executing the float graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.options import Observer, QuantSettings
from edgec.floatrun.activations import activations
from edgec.ir.graph import Graph
from edgec.quant.cnn.observers import Aim, Histogram, MinMax, choose_range
from edgec.quant.common.params import Range
from edgec.quant.common.progress import Progress, check_finite
from edgec.quant.common.statistics import ChannelStatistics


class Extremes:
    """Running extremes of some values.

    Attributes:
        of: those of each value, by its name.
    """

    def __init__(self, names: Sequence[str]) -> None:
        """Begin before the first sample.

        Args:
            names: values of a graph.
        """
        self.of = {name: MinMax() for name in names}

    def begin(self, statistics: Mapping[str, ChannelStatistics]) -> None:
        """Take in the samples that statistics are of.

        Raises:
            QuantizationError: an activation is NaN or infinite.
        """
        for name, seen in self.of.items():
            found = statistics[name]
            check_finite(name, np.array(0.0 if found.finite else np.nan))
            seen.update(np.array([found.lows.min(), found.highs.max()]))

    def update(self, batch: Mapping[str, Array]) -> None:
        """Take in float32 values of some samples by name; other names are left out.

        Raises:
            QuantizationError: an activation is NaN or infinite.
        """
        for name, seen in self.of.items():
            ends = np.array([batch[name].min(), batch[name].max()])
            check_finite(name, ends)
            seen.update(ends)


def calibrate(
    graph: Graph,
    names: Sequence[str],
    data: Mapping[str, Array],
    options: QuantSettings,
    progress: Progress | None = None,
    aims: Mapping[str, Aim] = MappingProxyType({}),
    known: Extremes | None = None,
) -> dict[str, Range]:
    """Ranges of values over the calibration data, as the observer of `options` chooses them.

    Args:
        graph: REAL stage.
        names: values to observe.
        data: from `checked_calibration`.
        options: the observer.
        progress: told after each batch.
        aims: what errors cost, for the MSE observer; a value that is left out counts by itself.
        known: the extremes of the values on all data, where they have been seen already.

    Raises:
        QuantizationError: an activation is NaN or infinite.
    """
    if not names:
        return {}
    total = len(next(iter(data.values())))
    extremes = Extremes(names) if known is None else known
    if known is None:
        for done, batch in activations(graph, names, data):
            extremes.update(batch)
            _tell(progress, done, total)
    if options.observer is Observer.MINMAX:
        return {name: extremes.of[name].range for name in names}
    aimed = aims if options.observer is Observer.MSE else {}
    histograms = {
        name: Histogram(extremes.of[name].range, aimed.get(name, Aim())) for name in names
    }
    for done, batch in activations(graph, names, data):
        for name, values in batch.items():
            histograms[name].update(values)
        _tell(progress, done, total)
    return {name: choose_range(histogram, options) for name, histogram in histograms.items()}


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
