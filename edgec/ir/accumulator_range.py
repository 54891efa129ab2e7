"""Which accumulators the weights and the bias of a layer allow, whatever the input."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import input_zero_point, plain_inputs


def product_range(graph: Graph, node: Node) -> tuple[Array, Array]:
    """Bounds of the sums of products of each channel of a layer with weights: int64 [O] each."""
    zero_point = input_zero_point(graph, node)
    weights = graph.constants[plain_inputs(node).w].array
    rows = weights.reshape(len(weights), -1).astype(np.int64)
    products = rows * (INT8_MIN - zero_point), rows * (INT8_MAX - zero_point)
    # Taps outside of an image add nothing, which is between the two.
    return np.minimum(*products).sum(axis=1), np.maximum(*products).sum(axis=1)


def accumulator_range(graph: Graph, node: Node) -> tuple[Array, Array]:
    """Bounds of the accumulators of each channel, bias included: int64 [O] each."""
    bias = graph.constants[plain_inputs(node).b].array.astype(np.int64)
    least, greatest = product_range(graph, node)
    return bias + least, bias + greatest
