"""Ranges by observers: the rule of groups whose ranges calibration data say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from edgec.base.dtypes import Array, DType
from edgec.base.options import Observer, QuantSettings
from edgec.floatrun.activations import activations
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.quant.cnn.aims import range_aims
from edgec.quant.cnn.balance import SAMPLES
from edgec.quant.cnn.calibrate import Extremes, calibrate
from edgec.quant.common.importance import importance
from edgec.quant.common.params import activation_params
from edgec.quant.common.progress import Progress
from edgec.quant.common.statistics import ChannelStatistics, channel_statistics
from edgec.quant.scales.groups import Group
from edgec.quant.scales.least import scales_of
from edgec.quant.scales.planner import Rule
from edgec.quant.scales.ranges import source_range, with_constants


def observed(
    graph: Graph,
    groups: Sequence[Group],
    data: Mapping[str, Array],
    options: QuantSettings,
    progress: Progress | None,
    statistics: Mapping[str, ChannelStatistics] = MappingProxyType({}),
) -> Rule:
    """The rule that gives groups the parameters of their ranges.

    Args:
        graph: REAL stage, from `split_conflicts`.
        groups: values that share their parameters.
        data: graph input name to float32 [N, ...].
        options: how a range is found.
        progress: told what is being done.
        statistics: `channel_statistics` of all real tensors on the first `SAMPLES` samples, where
            they have been made already.

    Raises:
        QuantizationError: an activation is NaN or infinite.
    """
    names = [name for group in groups for name in group.sources]
    real = {name for name, value in graph.values.items() if value.dtype is DType.FLOAT32}
    if not real <= statistics.keys():
        few = {name: array[:SAMPLES] for name, array in data.items()}
        statistics = channel_statistics(graph, real, few)
    extremes = Extremes(names)
    extremes.begin(statistics)
    _see_rest(graph, names, data, extremes)
    aims = range_aims(graph, groups, importance(graph, statistics))
    # What is cut off a carried value is missing in all later turns.
    carried = [name for group in groups if _is_carried(graph, group) for name in group.sources]
    clipped = [name for name in names if name not in carried]
    ranges = calibrate(graph, clipped, data, options, progress, aims, extremes)
    whole = replace(options, observer=Observer.MINMAX)
    ranges |= calibrate(graph, carried, data, whole, progress, known=extremes)

    def rule(group: Group, known: Mapping[str, QuantParams]) -> QuantParams:
        found = source_range(group, ranges.__getitem__)
        values = with_constants(graph, group, found)
        return activation_params(values, scales=scales_of(graph, group, known))

    return rule


def _see_rest(
    graph: Graph, names: Sequence[str], data: Mapping[str, Array], extremes: Extremes
) -> None:
    """Take in the samples that no statistics were made of; of streams all, as each has state."""
    if len(next(iter(data.values()))) <= SAMPLES or not names:
        return
    start = 0 if graph.has_state else SAMPLES
    rest = {name: array[start:] for name, array in data.items()}
    for _, batch in activations(graph, names, rest):
        extremes.update(batch)


def _is_carried(graph: Graph, group: Group) -> bool:
    return any(name in graph.updates for name in group.members)
