"""Ranges by observers: the rule of groups whose ranges calibration data say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from edgec.base.dtypes import Array
from edgec.base.options import QuantSettings
from edgec.floatrun.activations import activations
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.quant.cnn.aims import range_aims
from edgec.quant.cnn.calibrate import Extremes, calibrate
from edgec.quant.common.importance import importance
from edgec.quant.common.params import activation_params
from edgec.quant.common.progress import Progress
from edgec.quant.common.statistics import ChannelStatistics, channel_statistics
from edgec.quant.scales.groups import Group
from edgec.quant.scales.least import scales_of
from edgec.quant.scales.planner import Rule
from edgec.quant.scales.ranges import source_range, with_constants

_STATISTICS_SAMPLES = 64
"""Calibration samples that say which channels matter."""


def observed(
    graph: Graph,
    groups: Sequence[Group],
    data: Mapping[str, Array],
    options: QuantSettings,
    progress: Progress | None,
) -> Rule:
    """The rule that gives groups the parameters of their ranges.

    Args:
        graph: REAL stage, from `split_conflicts`.
        groups: values that share their parameters.
        data: graph input name to float32 [N, ...].
        options: how a range is found.
        progress: told what is being done.
    """
    names = [name for group in groups for name in group.sources]
    statistics, extremes = _seen(graph, names, data)
    aims = range_aims(graph, groups, importance(graph, statistics))
    # What is cut off a carried value is missing in all later turns.
    carried = [name for group in groups if _is_carried(graph, group) for name in group.sources]
    clipped = [name for name in names if name not in carried]
    ranges = calibrate(graph, clipped, data, options, progress, aims, extremes)
    ranges |= {name: extremes.carried(name) for name in carried}

    def rule(group: Group, known: Mapping[str, QuantParams]) -> QuantParams:
        found = source_range(group, ranges.__getitem__)
        values = with_constants(graph, group, found)
        return activation_params(values, scales=scales_of(graph, group, known))

    return rule


def _seen(
    graph: Graph, names: Sequence[str], data: Mapping[str, Array]
) -> tuple[Mapping[str, ChannelStatistics], Extremes]:
    """Statistics of a few samples, and the extremes of all."""
    few = {name: array[:_STATISTICS_SAMPLES] for name, array in data.items()}
    count = len(next(iter(data.values())))
    extremes = Extremes(names, count)
    # Samples of a stream follow one another: all are run again, not the rest.
    whole = count <= _STATISTICS_SAMPLES or not graph.has_state
    seen = extremes.update if whole else None
    statistics = channel_statistics(graph, graph.values, few, seen)
    start = _STATISTICS_SAMPLES if whole else 0
    if names and start < count:
        rest = {name: array[start:] for name, array in data.items()}
        for _, batch in activations(graph, names, rest):
            extremes.update(batch)
    return statistics, extremes


def _is_carried(graph: Graph, group: Group) -> bool:
    return any(name in graph.updates for name in group.members)
