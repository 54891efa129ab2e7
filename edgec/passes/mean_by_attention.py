"""A mean over the variable axis is attention with one query that is zero.

Rules:
1. mean: ``x.mean(axis)`` over the rows of x [..., N, C], N being the variable axis, becomes the
   attention of a query of zeros to keys and values x.  All logits are 0, so all exponentials are
   equal, and attention divides by their sum: by the number of rows that there are, whatever it is.
   (A mean's own multiplier has 1/N in it.)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.ir import ops
from edgec.ir.graph import Graph, GraphBuilder, Node
from edgec.ir.ops import ReduceKind


def mean_by_attention(graph: Graph) -> Graph:
    """Apply the rule to every such mean of a graph of the REAL stage with a variable length."""
    builder = GraphBuilder.of(graph)
    for node in graph.nodes:
        if _fits(graph, node):
            _rewrite(graph, node, builder)
    return builder.build()


def _fits(graph: Graph, node: Node) -> bool:
    attrs = node.attrs
    if not isinstance(attrs, ops.Reduce) or attrs.kind is not ReduceKind.MEAN:
        return False
    axis = graph.length.axes.get(node.first) if graph.length is not None else None
    shape = graph.shape(node.first)
    rows = len(shape) - 2
    return attrs.axes == (rows,) == (axis,) and shape[:rows] == (1,) * rows


def _rewrite(graph: Graph, node: Node, builder: GraphBuilder) -> None:
    x = node.input
    result = graph.values[node.output]
    *lead, _, channels = graph.shape(x)
    shape = (*lead, 1, channels)
    query = builder.constant(f"{node.name}/query", np.zeros(shape, np.float32))
    pooled = replace(result, name=builder.fresh(f"{result.name}/pooled"), shape=shape)
    builder.value(pooled)
    attention = ops.Attention(heads=1, scale=1.0)
    inputs = attention.Inputs(query, x, x).names()
    builder.put(
        replace(
            node,
            attrs=attention,
            inputs=inputs,
            outputs=(pooled.name,),
        )
    )
    name = f"{node.name}/shape"
    builder.node(name, ops.Reshape(result.shape), (pooled.name,), (result.name,), node.sources)
