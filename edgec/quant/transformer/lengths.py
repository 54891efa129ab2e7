"""Values of the float network on runs of several lengths.

Averages of fewer tokens are larger, so the ranges of a model of variable length are those of short
and long runs together: the fronts of the calibration samples serve as shorter ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph
from edgec.ir.specialize import specialized
from edgec.quant.common.progress import Progress
from edgec.quant.transformer.samples import Seen, collect

_PARTS = (4, 2)
"""Shorter runs are these parts of the longest, and a single token."""


def collect_at_lengths(
    graph: Graph,
    names: Sequence[str],
    data: Mapping[str, Array],
    progress: Progress | None = None,
) -> dict[str, Seen]:
    """`samples.collect`; with a variable length, over runs of several lengths.

    Args:
        graph: REAL stage.
        names: values to observe.
        data: calibration data of the longest run, from `checked_calibration`.
        progress: told after each batch.

    Raises:
        QuantizationError: an activation is NaN or infinite.
    """
    found = collect(graph, names, data, progress)
    if graph.length is None:
        return found
    longest = graph.length.maximum
    for length in sorted({1, *(max(longest // part, 1) for part in _PARTS)}):
        shorter = specialized(graph, length)
        fronts = {
            name: array[:, *map(slice, shorter.shape(name)[1:])] for name, array in data.items()
        }
        runs = collect(shorter, names, fronts, progress)
        found = {name: _joined(found[name], runs[name]) for name in names}
    return found


def _joined(longest: Seen, shorter: Seen) -> Seen:
    count = shorter.low.size
    low, high = longest.low.copy(), longest.high.copy()
    low[:count] = np.minimum(low[:count], shorter.low)
    high[:count] = np.maximum(high[:count], shorter.high)
    if count < longest.low.size:  # the tokens are the last axis
        return Seen(low, high, longest.rows, longest.count)
    rows = np.concatenate([longest.rows, shorter.rows])
    return Seen(low, high, rows, longest.count + shorter.count)
