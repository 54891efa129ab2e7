"""Sequence pooling is attention with one constant query.

Rules:
1. pool: ``softmax(x @ w + b) @ x`` over the rows of x [..., N, C], with w [C] and b constant
   (Hassani et al. 2021, "Escaping the Big Data Paradigm with Compact Transformers", section 3.2),
   becomes the attention of the query w to keys and values x: b is the same for every row, and the
   softmax does not see it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.ir import ops
from edgec.ir.graph import Graph, GraphBuilder, Node
from edgec.passes.edit import sweep


def pooling_by_attention(graph: Graph) -> Graph:
    """Apply the rule to every sequence pooling."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    if node.attrs != ops.MatMul():
        return None
    product = ops.MatMul.Inputs.of(node.inputs)
    softmax, x = graph.producers.get(product.a), product.b
    if softmax is None or softmax.attrs != ops.Softmax() or x not in graph.values:
        return None
    layer = _behind_reshapes(graph, softmax.first)
    if layer is None or not isinstance(layer.attrs, ops.Gemm) or layer.first != x:
        return None
    weight = graph.constants[ops.Gemm.Inputs.of(layer.inputs).w]
    rows = graph.shape(x)
    if weight.shape[0] != 1 or graph.shape(softmax.output) != (*rows[:-2], 1, rows[-2]):
        return None
    if len(rows) < 3 or rows[:-2] != (1,) * (len(rows) - 2):
        return None
    builder = GraphBuilder.of(graph)
    query = weight.real().reshape(*rows[:-2], 1, rows[-1])
    name = builder.constant(f"{node.name}/query", np.ascontiguousarray(query))
    attention = ops.Attention(heads=1, scale=1.0)
    builder.put(replace(node, attrs=attention, inputs=attention.Inputs(name, x, x).names()))
    return builder.build()


def _behind_reshapes(graph: Graph, name: str) -> Node | None:
    node = graph.producers.get(name)
    while node is not None and isinstance(node.attrs, ops.Reshape):
        node = graph.producers.get(node.first)
    return node
