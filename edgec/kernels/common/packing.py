"""Layers whose weights are stored in fewer bytes: the least that it must save, and single rows."""

from __future__ import annotations

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.weighted import MATRIX_PRODUCTS
from edgec.kernels.common.window import dense_window, is_gemm

LEAST_SAVED_BYTES = 512
"""Least bytes that packing must save in a layer: the code of a loop of its own takes as many."""


def lone_row_weights(graph: Graph, node: Node) -> Array | None:
    """The weights of a product of one row, int8 [O, ...], each of which is used once.

    None for other layers, for groups, and for pooled weights.
    """
    if getattr(node.attrs, "group", 1) != 1:
        return None
    if not isinstance(node.attrs, MATRIX_PRODUCTS) and not is_gemm(graph, node):
        return None
    weights = graph.constants[plain_inputs(node).w]
    if weights.pooled is not None or dense_window(graph, node).out_pixels != 1:
        return None
    return weights.array
