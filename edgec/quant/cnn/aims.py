"""Aims of the choice of ranges: the error that a tensor's codes cause in its readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.floatrun.codes import unary_function
from edgec.floatrun.ops_elementwise import Function
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.quant.cnn.observers import Aim, Part
from edgec.quant.common.back_through import back_through
from edgec.quant.scales.groups import Group

_Read = dict[ops.Unary, dict[str, Array]]
"""By function, what elements of the values of a group weigh in its results."""


def range_aims(
    graph: Graph, groups: Sequence[Group], importance: Mapping[str, Array]
) -> dict[str, Aim]:
    """The aim of each value that has a range of its own.

    An error counts by the importance of its channel.  Where functions of one variable alone read a
    tensor (HardSwish, Sigmoid), the errors of their results count, by the importance of those: what
    they map to one number needs no codes.  A function counts where it reads: the importance of its
    results goes back through all moves between, to the elements that they come from.

    Args:
        graph: REAL stage.
        groups: tie groups whose ranges are to be found.
        importance: from `common.importance`.
    """
    aims = {}
    for group in groups:
        read = _read(graph, group, _functions(group), importance)
        for name in group.sources:
            parts = [
                (unary_function(function), weights[name])
                for function, weights in read.items()
                if name in weights and weights[name].any()
            ]
            aims[name] = _relative(parts) if parts else _own(importance.get(name))
    return aims


def _functions(group: Group) -> list[Node]:
    """The functions that read a group's values, if nothing else does; else none."""
    readers = [node for node, _ in group.readers]
    alone = not group.is_output and all(isinstance(node.attrs, ops.Unary) for node in readers)
    return readers if alone else []


def _read(
    graph: Graph, group: Group, functions: list[Node], importance: Mapping[str, Array]
) -> _Read:
    """Weights of the elements that functions read of a group's values, back to its sources."""
    known = [importance[node.output] for node in functions if node.output in importance]
    counts = len(known) == len(functions) and any(weight.any() for weight in known)
    read: _Read = {}
    for node in functions:
        own = importance[node.output] if counts else np.ones(graph.shape(node.input)[-1:] or (1,))
        _add(read.setdefault(node.attrs_as(ops.Unary), {}), node.input, own)
    moves = {node.output: node for node in group.moves}
    for name in reversed(group.members):
        move = moves.get(name)
        if move is None:
            continue
        for weights in read.values():
            for operand in set(move.inputs) & set(group.members) if name in weights else ():
                _add(weights, operand, back_through(graph, move, operand, weights[name]))
    return read


def _add(weights: dict[str, Array], name: str, more: Array) -> None:
    weights[name] = weights[name] + more if name in weights else more


def _own(weight: Array | None) -> Aim:
    """A tensor's own error counts."""
    if weight is None or not weight.any():
        return Aim()
    return Aim((Part(weight=weight / weight.max()),))


def _relative(parts: list[tuple[Function, Array]]) -> Aim:
    """An aim whose largest weight is 1."""
    most = max(float(weight.max()) for _, weight in parts)
    return Aim(tuple(Part(function, weight / most) for function, weight in parts))
