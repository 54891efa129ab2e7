"""Let layers whose weights come from a pool use it.

Rules:
1. conv: a QConv of one group whose weight constant has `pooled` becomes a QPooledConv.
2. gemm: likewise a QGemm becomes a QPooledGemm.
3. pool: equal pools become one constant.

Nothing is rounded yet: `PoolRounding(8, 0)` computes what the expanded weights do, bit for bit.
The planner chooses narrower activations and scaled responses later.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np

from edgec.ir import qops
from edgec.ir.graph import Graph
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.weight_pool import WeightPool
from edgec.ir.weighted import PLAIN, POOLED, is_int8_layer, layer_terms, pooled_inputs

_EXACT = qops.PoolRounding(activation_bits=8, response_shift=0)


def pool_layers(graph: Graph) -> Graph:
    """Apply the rules."""
    builder = GraphBuilder.of(graph)
    pools: dict[tuple[int, bytes], str] = {}
    for node in graph.nodes:
        attrs = _pooled_attrs(node.attrs)
        if attrs is None or not is_int8_layer(graph, node):
            continue
        own = qops.PlainLayer.Inputs.of(node.inputs)
        weights = graph.constants[own.w].pooled
        if weights is None:
            continue
        pool = _shared(builder, pools, weights.pool)
        indices = builder.constant(f"{own.w}/indices", weights.indices)
        inputs = own.pooled(pool, indices)
        builder.put(replace(node, attrs=attrs, inputs=inputs.names()))
    return builder.build()


def pool_notes(_before: Graph, after: Graph) -> tuple[str, ...]:
    """One line: how many layers are pooled, in how many vectors."""
    pooled = [node for node in after.nodes if isinstance(node.attrs, POOLED)]
    if not pooled:
        return ()
    layers = sum(isinstance(node.attrs, (*PLAIN, *POOLED)) for node in after.nodes)
    most = max(layer_terms(after, node) for node in pooled)
    sums = f", up to {most} of which are added up" if most > 1 else ""
    pools = dict.fromkeys(pooled_inputs(node).pool for node in pooled)
    sizes = Counter(after.shape(name) for name in pools)
    of = (
        f"{f'{count} pools of ' if count > 1 else ''}{size} vectors of {group} weights"
        for (size, group), count in sizes.items()
    )
    return (f"{len(pooled)} of {layers} layers pooled, {', '.join(of)}{sums}",)


def _pooled_attrs(attrs: Any) -> Any:
    """The pooled form of an operator, or None when it has none."""
    match attrs:
        case qops.QConv(group=1):
            return qops.QPooledConv(attrs, _EXACT)
        case qops.QGemm():
            return qops.QPooledGemm(attrs, _EXACT)
        case _:
            return None


def _shared(builder: GraphBuilder, pools: dict[tuple[int, bytes], str], pool: WeightPool) -> str:
    """Name of the constant that holds the vectors of a pool."""
    key = (pool.group, np.ascontiguousarray(pool.vectors).tobytes())
    if key not in pools:
        pools[key] = builder.constant("pool", pool.vectors)
    return pools[key]
