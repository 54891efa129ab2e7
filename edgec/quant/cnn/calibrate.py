"""Ranges of activations from calibration data, by executing the float graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from edgec.base.dtypes import Array
from edgec.base.options import Observer, QuantSettings
from edgec.floatrun.activations import activations
from edgec.ir.graph import Graph
from edgec.quant.cnn.observers import Aim, Histogram, MinMax, choose_range
from edgec.quant.common.params import Range
from edgec.quant.common.progress import Progress, check_finite


def calibrate(
    graph: Graph,
    names: Sequence[str],
    data: Mapping[str, Array],
    options: QuantSettings,
    progress: Progress | None = None,
    aims: Mapping[str, Aim] = MappingProxyType({}),
) -> dict[str, Range]:
    """Ranges of values over the calibration data, as the observer of `options` chooses them.

    Args:
        graph: REAL stage.
        names: values to observe.
        data: from `checked_calibration`.
        options: the observer.
        progress: told after each batch.
        aims: what errors cost, for the MSE observer; a value that is left out counts by itself.

    Raises:
        QuantizationError: an activation is NaN or infinite.
    """
    if not names:
        return {}
    total = len(next(iter(data.values())))
    extremes = {name: MinMax() for name in names}
    for done, batch in activations(graph, names, data):
        for name, values in batch.items():
            check_finite(name, values)
            extremes[name].update(values)
        _tell(progress, done, total)
    if options.observer is Observer.MINMAX:
        return {name: seen.range for name, seen in extremes.items()}
    aimed = aims if options.observer is Observer.MSE else {}
    histograms = {
        name: Histogram(seen.range, aimed.get(name, Aim())) for name, seen in extremes.items()
    }
    for done, batch in activations(graph, names, data):
        for name, values in batch.items():
            histograms[name].update(values)
        _tell(progress, done, total)
    return {name: choose_range(histogram, options) for name, histogram in histograms.items()}


def _tell(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(done, total)
