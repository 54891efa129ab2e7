"""Ranges of calibration data, as far as values need them, and the parameters that they give."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from edgec.base.dtypes import Array
from edgec.base.options import QuantSettings
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph, Node
from edgec.ir.qparams import QuantParams
from edgec.quant.cnn.aims import range_aims
from edgec.quant.cnn.ties import TieGroup
from edgec.quant.common.calibrate import Progress, calibrate
from edgec.quant.common.importance import importance
from edgec.quant.common.params import Range, activation_params, range_of
from edgec.quant.common.statistics import channel_statistics

_LOG = logging.getLogger(__name__)

_STATISTICS_SAMPLES = 64
"""Calibration samples that say which channels matter."""
_PAD_REACH = 16.0
_PAD_LEAST = 256.0
"""A number to fill with beyond _PAD_LEAST and _PAD_REACH times the data stands for "never wins"."""
_HIDDEN_BELOW = 12.0
"""A logit this far below the largest has a probability below that of an 8-bit step."""


def calibrated_params(
    graph: Graph,
    groups: list[TieGroup],
    data: Mapping[str, Array],
    options: QuantSettings,
    progress: Progress | None,
) -> dict[str, QuantParams]:
    """The parameters of values whose ranges calibration data say.

    Args:
        graph: REAL stage, from `split_conflicts`.
        groups: values that share their parameters.
        data: graph input name to float32 [N, ...].
        options: how a range is found.
        progress: told what is being done.

    Returns:
        Parameters by value.
    """
    names = [name for group in groups for name in group.sources]
    few = {name: array[:_STATISTICS_SAMPLES] for name, array in data.items()}
    statistics = channel_statistics(graph, graph.values, few)
    aims = range_aims(graph, groups, importance(graph, statistics))
    ranges = calibrate(graph, names, data, options, progress, aims)
    params = {}
    for group in groups:
        found = ranges[group.sources[0]]
        for name in group.sources[1:]:
            found = found.union(ranges[name])
        found = _with_constants(graph, group, found)
        params.update(dict.fromkeys(group.members, activation_params(found)))
    return params


def _with_constants(graph: Graph, group: TieGroup, values: Range) -> Range:
    """The range widened to what Concat and Pad add to the tensor."""
    for name in group.members:
        node = graph.producers.get(name)
        if node is None:
            continue
        if isinstance(node.attrs, ops.Concat):
            for constant in (graph.constants[n] for n in node.inputs if n in graph.constants):
                values = values.union(range_of(constant.real64()))
        if isinstance(node.attrs, ops.Where):
            for constant in _chosen_constants(graph, node):
                for end in (float(constant.real64().min()), float(constant.real64().max())):
                    if _hides(graph, group, values, end):
                        values = values.union(Range(values.high - _HIDDEN_BELOW, values.high))
                    else:
                        values = _with_far(values, end, node.name)
        if isinstance(node.attrs, ops.Pad) and node.attrs.mode is ops.PadMode.CONSTANT:
            values = _with_far(values, node.attrs.value, node.name)
    return values


def _chosen_constants(graph: Graph, node: Node) -> list[Constant]:
    """The constants that a Where chooses from."""
    real = ops.Where.Inputs.of(node.inputs)
    return [graph.constants[name] for name in (real.a, real.b) if name in graph.constants]


def _hides(graph: Graph, group: TieGroup, values: Range, number: float) -> bool:
    """Whether a number stands for "as good as minus infinity" before a softmax."""
    readers = (reader for name in group.members for reader in graph.consumers[name])
    softmax = any(isinstance(reader.attrs, ops.Softmax | ops.LogSoftmax) for reader in readers)
    return softmax and number < values.high - _HIDDEN_BELOW


def _with_far(values: Range, number: float, where: str) -> Range:
    """The range with a number that a tensor is filled with, unless it lies far outside."""
    if abs(number) <= max(_PAD_REACH * values.magnitude, _PAD_LEAST):
        return values.union(Range(number, number))
    _LOG.warning(
        "%s fills with %g, far outside the data in [%g, %g]; that saturates",
        where,
        number,
        values.low,
        values.high,
    )
    return values
