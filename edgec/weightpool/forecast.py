"""Bytes that a network would store with some pools, before there are any."""

from __future__ import annotations

import numpy as np

from edgec.base.options import WeightPoolOptions
from edgec.ir.graph import Graph
from edgec.ir.weight_pool import WeightPool
from edgec.weightpool.assign import Assignment
from edgec.weightpool.layers import Choice
from edgec.weightpool.network import Network, with_layer
from edgec.weightpool.report import StoredSizes, stored_sizes
from edgec.weightpool.sharing import parts_of


def forecast(graph: Graph, choice: Choice, options: WeightPoolOptions) -> StoredSizes:
    """The sizes that `compress_graph` will report: they depend on no weight.

    Args:
        graph: REAL stage, cleaned.
        choice: its layers to pool.
        options: the pools.

    Raises:
        WeightPoolError: see `compress_graph`.
    """
    pooled = graph
    for part in parts_of([Network(graph, None, choice)], options):
        pool = WeightPool(np.zeros((part.size, options.group), np.int8))
        for place in part.places:
            layer = choice.pooled[place]
            nothing = np.zeros((*layer.weight.shape[:2], layer.terms), np.int64)
            found = Assignment(nothing, np.ones(layer.outputs))
            pooled = with_layer(pooled, layer, pool, found, layer.bias)
    return stored_sizes(pooled, signed=options.signed)
