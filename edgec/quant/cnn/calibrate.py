"""Ranges of activations from calibration data, by executing the float graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.options import Observer, QuantSettings
from edgec.floatrun.activations import MANY_SAMPLES, activations
from edgec.ir.graph import Graph
from edgec.quant.cnn.bias_correct import WantedSeen
from edgec.quant.cnn.observers import Aim, Histogram, MinMax, Tails, choose_range
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
            seen.add(found.lows.min(axis=1), found.highs.max(axis=1))

    def update(self, batch: Mapping[str, Array], samples: int) -> None:
        """Take in float32 values of some samples by name; other names are left out.

        Args:
            batch: values of the samples, one sample after the other.
            samples: how many.

        Raises:
            QuantizationError: an activation is NaN or infinite.
        """
        for name, seen in self.of.items():
            seen.update(batch[name], samples)
            check_finite(name, seen.ends[-1])

    def tails(self, name: str) -> Tails:
        """Tails that fresh samples add to a value, after the last sample."""
        return self.of[name].tails()

    def carried(self, name: str) -> Range:
        """Range of a value that is carried on: its extremes and the mean excess of fresh ones."""
        seen = self.of[name].range
        return self.tails(name).widened(seen, lambda tail: tail.end + tail.excess)

    def fresh(self, name: str) -> Range:
        """The range of a value that about one of a thousand fresh samples leaves at each end."""
        return self.tails(name).widened(self.of[name].range)


def calibrate(
    graph: Graph,
    names: Sequence[str],
    data: Mapping[str, Array],
    options: QuantSettings,
    progress: Progress | None = None,
    aims: Mapping[str, Aim] = MappingProxyType({}),
    known: Extremes | None = None,
    beside: WantedSeen | None = None,
) -> dict[str, Range]:
    """Ranges of values, as the observer of `options` chooses them.

    They are ranges of the calibration data; that of the MSE observer takes into account what fresh
    samples add to them.

    Args:
        graph: REAL stage.
        names: values to observe.
        data: from `checked_calibration`.
        options: the observer.
        progress: told after each batch.
        aims: what errors cost, for the MSE observer; a value that is left out counts by itself.
        known: the extremes of the values on all data, where they have been seen already.
        beside: takes in what it wants of the run that counts values, if there is one.

    Raises:
        QuantizationError: an activation is NaN or infinite.
    """
    if not names:
        return {}
    total = len(next(iter(data.values())))
    extremes = _extremes(graph, names, data, progress) if known is None else known
    if options.observer is Observer.MINMAX:
        return {name: extremes.of[name].range for name in names}
    aimed = aims if options.observer is Observer.MSE else {}
    adds = options.observer is Observer.MSE
    histograms = {
        name: Histogram(
            extremes.fresh(name) if adds else extremes.of[name].range, aimed.get(name, Aim())
        )
        for name in names
    }
    more = () if beside is None else beside.names
    for done, batch in activations(graph, [*dict.fromkeys((*names, *more))], data, MANY_SAMPLES):
        for name, histogram in histograms.items():
            histogram.update(batch[name])
        if beside is not None:
            beside.update(done, batch)
        _tell(progress, done, total)
    if adds:
        for name, histogram in histograms.items():
            histogram.add_tails(extremes.tails(name))
    return {name: choose_range(histogram, options) for name, histogram in histograms.items()}


def roomy_ranges(graph: Graph, names: Sequence[str], data: Mapping[str, Array]) -> dict[str, Range]:
    """Ranges of values for int16 codes: about one of `RARE` fresh samples leaves one at each end.

    A range of twice the width costs one of 16 bits; what it cuts off may be the whole signal.

    Args:
        graph: REAL or ANNOTATED stage.
        names: values to observe.
        data: from `checked_calibration`.

    Raises:
        QuantizationError: an activation is NaN or infinite.
    """
    seen = _extremes(graph, names, data, None)
    return {name: seen.of[name].roomy for name in names}


def _extremes(
    graph: Graph, names: Sequence[str], data: Mapping[str, Array], progress: Progress | None
) -> Extremes:
    found, before, total = Extremes(names), 0, len(next(iter(data.values())))
    if not names:
        return found
    for done, batch in activations(graph, names, data, MANY_SAMPLES):
        found.update(batch, done - before)
        before = done
        _tell(progress, done, total)
    return found


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
