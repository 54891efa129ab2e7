"""Which values are the stream: what residual additions carry from norm to norm, in int16."""

from __future__ import annotations

from edgec.base.dtypes import DType
from edgec.ir import ops
from edgec.ir.graph import Graph, Node

NORMS = (ops.LayerNormalization, ops.RMSNormalization)
TIES = (ops.Add, ops.Reshape, ops.Transpose, ops.Slice, ops.Concat)
"""Operators whose inputs and output are all of the stream or all not."""


def is_real(graph: Graph, name: str) -> bool:
    """True for activations; False for token ids, masks, indices and constants."""
    value = graph.values.get(name)
    return value is not None and value.dtype is DType.FLOAT32


def stream_groups(graph: Graph) -> tuple[tuple[str, ...], ...]:
    """Groups of values, each connected by additions and moves, that norms read or embeddings start.

    Each group has one scale.

    Args:
        graph: REAL stage.

    Returns:
        Names in graph order, groups in the order of their first value.
    """
    parent = {name: name for name in graph.values}

    def root(name: str) -> str:
        while parent[name] != name:
            name = parent[name]
        return name

    for node in graph.nodes:
        if isinstance(node.attrs, TIES):
            for name in node.inputs:
                if is_real(graph, name) and is_real(graph, node.output):
                    parent[root(name)] = root(node.output)
    wide = {root(name) for node in graph.nodes for name in _marked(node)}
    order = [*graph.inputs, *(node.output for node in graph.nodes)]
    groups: dict[str, list[str]] = {}
    for name in order:
        if root(name) in wide:
            groups.setdefault(root(name), []).append(name)
    return tuple(tuple(names) for names in groups.values())


def _marked(node: Node) -> tuple[str, ...]:
    """The value that a node puts into the stream."""
    if isinstance(node.attrs, NORMS):
        return (node.first,)
    return (node.output,) if isinstance(node.attrs, ops.Embedding) else ()
