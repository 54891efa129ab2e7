"""Let layers whose weights come from a pool use it.

Rules:
1. conv: a QConv of one group whose weight constant has `pooled` becomes a QPooledConv.
2. gemm: likewise a QGemm becomes a QPooledGemm.
3. pool: equal pools become one constant.

Nothing is rounded yet: `Pooling(8, 0)` computes what the expanded weights do, bit for bit.  The
planner chooses narrower activations and scaled responses later.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from edgec.ir import qops
from edgec.ir.graph import Graph, GraphBuilder, Node
from edgec.ir.weight_pool import PooledWeights, WeightPool
from edgec.ir.weighted import PLAIN, POOLED

_EXACT = qops.Pooling(activation_bits=8, response_shift=0)


def pool_layers(graph: Graph) -> Graph:
    """Apply the rules."""
    builder = GraphBuilder.of(graph)
    pools: dict[tuple[int, bytes], str] = {}
    for node in graph.nodes:
        attrs = _pooled_attrs(node.attrs)
        weights = _pooled_weights(graph, node)
        if attrs is None or weights is None:
            continue
        pool = _shared(builder, pools, weights.pool)
        indices = builder.constant(f"{node.inputs[1]}/indices", weights.indices)
        inputs = (node.inputs[0], pool, indices, *node.inputs[2:])
        builder.put(replace(node, attrs=attrs, inputs=inputs))
    return builder.build()


def pool_notes(before: Graph, after: Graph) -> tuple[str, ...]:
    """One line: how many layers are pooled, in how many vectors."""
    pooled = [node for node in after.nodes if isinstance(node.attrs, POOLED)]
    if not pooled:
        return ()
    layers = sum(isinstance(node.attrs, (*PLAIN, *POOLED)) for node in after.nodes)
    sizes = {node.inputs[1]: after.shape(node.inputs[1]) for node in pooled}
    of = ", ".join(f"{size} vectors of {group} weights" for size, group in sizes.values())
    return (f"{len(pooled)} of {layers} layers pooled, {of}",)


def _pooled_attrs(attrs: Any) -> Any:
    """The pooled form of an operator, or None when it has none."""
    match attrs:
        case qops.QConv(group=1):
            return qops.QPooledConv(attrs, _EXACT)
        case qops.QGemm():
            return qops.QPooledGemm(attrs, _EXACT)
        case _:
            return None


def _pooled_weights(graph: Graph, node: Node) -> PooledWeights | None:
    constant = graph.constants.get(node.inputs[1]) if len(node.inputs) > 1 else None
    return None if constant is None else constant.pooled


def _shared(builder: GraphBuilder, pools: dict[tuple[int, bytes], str], pool: WeightPool) -> str:
    """Name of the constant that holds the vectors of a pool."""
    key = (pool.group, np.ascontiguousarray(pool.vectors).tobytes())
    if key not in pools:
        pools[key] = builder.constant("pool", pool.vectors)
    return pools[key]
