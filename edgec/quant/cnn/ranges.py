"""Ranges by observers: the rule of groups whose ranges calibration data say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from edgec.base.dtypes import Array, DType
from edgec.base.options import QuantSettings
from edgec.floatrun.activations import MANY_SAMPLES, activations
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.quant.cnn.aims import range_aims
from edgec.quant.cnn.balance import SAMPLES
from edgec.quant.cnn.bias_correct import WantedSeen
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
    beside: WantedSeen | None = None,
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
        beside: see `calibrate`.

    Raises:
        QuantizationError: an activation is NaN or infinite.
    """
    names = [name for group in groups for name in group.sources]
    statistics, extremes = _seen(graph, names, data, statistics)
    aims = range_aims(graph, groups, importance(graph, statistics))
    # What is cut off a carried value is missing in all later turns.
    carried = [name for group in groups if _is_carried(graph, group) for name in group.sources]
    clipped = [name for name in names if name not in carried]
    ranges = calibrate(graph, clipped, data, options, progress, aims, extremes, beside)
    ranges |= {name: extremes.carried(name) for name in carried}

    def rule(group: Group, known: Mapping[str, QuantParams]) -> QuantParams:
        found = source_range(group, ranges.__getitem__)
        if _tells_signs(graph, group):
            found = found.scaled(SIGN_SHARE)
        values = with_constants(graph, group, found)
        return activation_params(values, scales=scales_of(graph, group, known))

    return rule


def _seen(
    graph: Graph,
    names: Sequence[str],
    data: Mapping[str, Array],
    statistics: Mapping[str, ChannelStatistics],
) -> tuple[Mapping[str, ChannelStatistics], Extremes]:
    """Statistics of the first samples, and the extremes of all."""
    real = {name for name, value in graph.values.items() if value.dtype is DType.FLOAT32}
    if not real <= statistics.keys():
        few = {name: array[:SAMPLES] for name, array in data.items()}
        statistics = channel_statistics(graph, real, few)
    count = len(next(iter(data.values())))
    extremes = Extremes(names)
    # Samples of a stream follow one another: all are run again, not the rest.
    start = 0 if graph.has_state and count > SAMPLES else SAMPLES
    if start:
        extremes.begin(statistics)
    if names and start < count:
        before = 0
        rest = {name: array[start:] for name, array in data.items()}
        for done, batch in activations(graph, names, rest, MANY_SAMPLES):
            extremes.update(batch, done - before)
            before = done
    return statistics, extremes


SIGN_SHARE = 2.0**-6
"""Share of its range that a tensor has codes for where nothing but signs is made of it: all else
saturates, and half a step, the numbers whose sign rounding can change, is 64 times as short."""


def _tells_signs(graph: Graph, group: Group) -> bool:
    """Whether all readers of a group of values ask for signs alone."""
    members = set(group.members)
    readers = [reader for name in members for reader in graph.consumers[name]]
    return members.isdisjoint(graph.outputs) and all(
        members.intersection(reader.outputs)
        or (isinstance(reader.attrs, ops.Unary) and reader.attrs.kind is ops.UnaryKind.BINARIZE)
        for reader in readers
    )


def _is_carried(graph: Graph, group: Group) -> bool:
    return any(name in graph.updates for name in group.members)
