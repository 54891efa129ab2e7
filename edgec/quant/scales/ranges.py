"""The range of a group of tensors: what its sources hold, and what constants add to it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.quant.common.params import Range, range_of
from edgec.quant.scales.groups import Group

_LOG = logging.getLogger(__name__)

_PAD_REACH = 16.0
_PAD_LEAST = 256.0
"""A number to fill with beyond _PAD_LEAST and _PAD_REACH times the data stands for "never wins"."""
_HIDDEN_BELOW = 12.0
"""A logit this far below the largest has a probability below that of an 8-bit step."""


def source_range(group: Group, range_of_source: Callable[[str], Range]) -> Range:
    """The range of all sources of a group."""
    first, *others = map(range_of_source, group.sources)
    for other in others:
        first = first.union(other)
    return first


def with_constants(graph: Graph, group: Group, values: Range) -> Range:
    """The range of a group widened to what constants can put into its tensors.

    Args:
        graph: REAL stage.
        group: one of its groups.
        values: what the sources of the group hold.
    """
    values, far = _widened(graph, group, values)
    for where, number in far.items():
        _LOG.warning(
            "%s fills with %g, far outside the data in [%g, %g]; that saturates",
            where,
            number,
            values.low,
            values.high,
        )
    return values


def holds_constants(graph: Graph, group: Group, values: Range) -> bool:
    """Whether a range that holds the sources of a group holds what constants add to it, too."""
    return _widened(graph, group, values)[0] == values


def _widened(graph: Graph, group: Group, values: Range) -> tuple[Range, dict[str, float]]:
    """The range, and the numbers that are left out of it by the nodes that fill with them."""
    far: dict[str, float] = {}
    for node in sorted(group.moves, key=lambda node: group.members.index(node.output)):
        for constant in _given(graph, node):
            match node.attrs:
                case ops.Maximum():
                    values = replace(values, high=max(values.high, constant.high))
                case ops.Minimum():
                    values = replace(values, low=min(values.low, constant.low))
                case ops.Where() | ops.Pad():
                    for end in (constant.low, constant.high):
                        if isinstance(node.attrs, ops.Where) and _hides(group, values, end):
                            values = values.union(Range(values.high - _HIDDEN_BELOW, values.high))
                        elif _is_far(values, end):
                            far[node.name] = end
                        else:
                            values = values.union(Range(end, end))
                case _:
                    values = values.union(constant)
    return values, far


def _given(graph: Graph, node: Node) -> list[Range]:
    """The ranges of the constants whose numbers a move may give."""
    if isinstance(node.attrs, ops.Pad):
        filled = node.attrs.mode is ops.PadMode.CONSTANT
        return [Range(node.attrs.value, node.attrs.value)] if filled else []
    names = node.inputs
    if isinstance(node.attrs, ops.Where):
        operands = ops.Where.Inputs.of(node.inputs)
        names = (operands.a, operands.b)
    return [range_of(graph.constants[n].real64()) for n in names if n in graph.constants]


def _hides(group: Group, values: Range, number: float) -> bool:
    """Whether a number stands for "as good as minus infinity" before a softmax."""
    softmax = any(isinstance(node.attrs, ops.Softmax | ops.LogSoftmax) for node, _ in group.readers)
    return softmax and number < values.high - _HIDDEN_BELOW


def _is_far(values: Range, number: float) -> bool:
    """Whether a number that a tensor is filled with lies far outside of its range."""
    return abs(number) > max(_PAD_REACH * values.magnitude, _PAD_LEAST)
