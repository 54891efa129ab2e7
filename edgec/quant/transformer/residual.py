"""Values of the residual stream: those that additions carry from norm to norm, in int16."""

from __future__ import annotations

from collections.abc import Sequence

from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.quant.common.numbers import least_norm_scale
from edgec.quant.common.params import LEAST_SCALE
from edgec.quant.scales.groups import Unions, is_real

NORMS = (ops.LayerNormalization, ops.RMSNormalization)
TIES = (ops.Add, ops.Reshape, ops.Transpose, ops.Slice, ops.Concat)
"""Operators whose inputs and output are all of the stream or all not."""


def stream_groups(graph: Graph) -> tuple[tuple[str, ...], ...]:
    """Groups of values, each connected by additions and moves, that norms read or embeddings start.

    Each group has one scale.

    Args:
        graph: REAL stage.

    Returns:
        Names in graph order, groups in the order of their first value.
    """
    sets = Unions(graph.values)
    for node in graph.nodes:
        if isinstance(node.attrs, TIES) and is_real(graph, node.output):
            for name in node.inputs:
                if is_real(graph, name):
                    sets.join(node.output, name)
    wide = {sets.root(name) for node in graph.nodes for name in _marked(node)}
    order = [*graph.inputs, *(node.output for node in graph.nodes)]
    return tuple(names for root, names in sets.sets(order).items() if root in wide)


def _marked(node: Node) -> tuple[str, ...]:
    """The value that a node puts into the stream."""
    if isinstance(node.attrs, NORMS):
        return (node.first,)
    return (node.output,) if isinstance(node.attrs, ops.Embedding) else ()


def least_of_stream(graph: Graph, names: Sequence[str]) -> float:
    """The least scale of a group of values: that with which norms can say their epsilons.

    Args:
        graph: REAL stage.
        names: from `stream_groups`.
    """
    norms = [n for name in names for n in graph.consumers[name] if isinstance(n.attrs, NORMS)]
    found = (
        least_norm_scale(
            node.attrs_as(ops.Norm).epsilon,
            graph.shape(node.first)[-1],
            centred=isinstance(node.attrs, ops.LayerNormalization),
        )
        for node in norms
    )
    return max(LEAST_SCALE, max(found, default=0.0))
