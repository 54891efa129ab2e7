"""Columns of a tensor: operands of attention that are parts of one, channels that stay channels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.labels import keeps_channels

_MOVES = (ops.Reshape, ops.Transpose, ops.Slice)


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of a value or constant, from `start` on, that are an operand of attention."""

    root: str
    start: int


def columns_of(graph: Graph, name: str) -> Columns:
    """The tensor that attention reads an operand from, seen through slices of its last axis.

    Args:
        graph: REAL stage.
        name: an operand of `ops.Attention`.
    """
    start = 0
    while is_column_slice(graph, graph.producers.get(name)):
        node = graph.producers[name]
        start += node.attrs_as(ops.Slice).starts[-1]
        name = node.first
    return Columns(name, start)


def is_column_slice(graph: Graph, node: Node | None) -> bool:
    """True for a slice that takes neighbouring columns and that only attention reads."""
    if node is None or not isinstance(node.attrs, ops.Slice) or node.output in graph.outputs:
        return False
    attrs, shape = node.attrs, graph.shape(node.first)
    whole = attrs.sizes[:-1] == shape[:-1] and attrs.steps[-1] == 1
    return whole and all(isinstance(r.attrs, ops.Attention) for r in graph.consumers[node.output])


def keep_columns(graph: Graph, moves: Iterable[Node]) -> bool:
    """True for moves that leave the last axis as it is and add no numbers of their own."""
    return all(isinstance(node.attrs, _MOVES) and keeps_channels(graph, node) for node in moves)
