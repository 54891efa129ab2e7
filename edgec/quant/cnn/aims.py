"""What ranges are chosen for: the error that a tensor's codes cause in what reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from edgec.base.dtypes import Array
from edgec.floatrun.tabled import unary_function
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.quant.cnn.observers import Aim
from edgec.quant.cnn.ties import TieGroup


def range_aims(
    graph: Graph, groups: Sequence[TieGroup], importance: Mapping[str, Array]
) -> dict[str, Aim]:
    """The aim of each value that has a range of its own.

    An error counts by the importance of its channel.  Where functions of one variable alone read a
    tensor (HardSwish, Sigmoid), the errors of their results count, by the importance of those: what
    they map to one number needs no codes.

    Args:
        graph: REAL stage.
        groups: tie groups whose ranges are to be found.
        importance: from `common.importance`.
    """
    aims = {}
    for group in groups:
        functions = _functions(graph, group)
        for name in group.sources:
            read = functions[0].output if functions else name
            weight = importance.get(read)
            if weight is not None and not weight.any():
                weight = None
            kinds = tuple(unary_function(node.attrs_as(ops.Unary)) for node in functions)
            aims[name] = Aim(_relative(weight), kinds)
    return aims


def _functions(graph: Graph, group: TieGroup) -> list[Node]:
    """The functions that read a group's values, if nothing else does; else none."""
    members = frozenset(group.members)
    readers = [
        node
        for name in group.members
        for node in graph.consumers[name]
        if node.output not in members
    ]
    if members & set(graph.outputs):
        return []
    return readers if all(isinstance(node.attrs, ops.Unary) for node in readers) else []


def _relative(weight: Array | None) -> Array | None:
    return None if weight is None else weight / weight.max()
