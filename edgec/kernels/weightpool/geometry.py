"""The window of a layer with pooled weights, and which sums its kernels can hold."""

from __future__ import annotations

import math

from edgec.base.dtypes import Array
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import pooled_attrs, pooled_inputs
from edgec.kernels.common.window import Window, image_window
from edgec.kernels.weightpool.bounds import sums_fit_lanes
from edgec.kernels.weightpool.gather.layout import BLOCKS

_FOUR_COLUMNS_COST = 0.6
"""Cost of gathering a block of four columns, relative to one of eight."""


def pooled_window(graph: Graph, node: Node, lanes: int) -> Window:
    """The geometry of a pooled operator.

    The rows of a matrix product, and the pixels of a pointwise convolution, may be arranged as any
    image: the one that is gathered in the fewest steps, then the one with the smallest table.
    """
    inputs = pooled_inputs(node)
    indices = graph.shape(inputs.indices)
    if isinstance(node.attrs, qops.QPooledGemm):
        shape = graph.shape(inputs.x)
        return _matrix_window(math.prod(shape[:-1]), shape[-1], lanes)
    conv = node.attrs_as(qops.QPooledConv).conv
    window = image_window(graph, node, conv, (indices[1], indices[2]))
    if window.is_pointwise:
        return _matrix_window(window.out_pixels, window.channels, lanes)
    return window


def window_indices(graph: Graph, node: Node) -> Array:
    """uint16 [O, KH, KW, groups * terms] of a pooled operator."""
    indices = graph.constants[pooled_inputs(node).indices].array
    return indices[:, None, None] if indices.ndim == 2 else indices


def _matrix_window(rows: int, depth: int, lanes: int) -> Window:
    heights = [h for h in range(1, rows + 1) if rows % h == 0]
    height = min(heights, key=lambda h: (_gather_cost(h, rows // h, lanes), rows // h))
    width = rows // height
    return Window(height, width, depth, height, width, 1, 1, 1, 1, 0, 0, 1, 1)


def _gather_cost(height: int, width: int, lanes: int) -> float:
    wide, rest = divmod(width, BLOCKS[0])
    last = 0.0 if rest == 0 else _FOUR_COLUMNS_COST if rest <= BLOCKS[1] else 1.0
    return -(-height // lanes) * (wide + last)


def fits_lanes(graph: Graph, node: Node) -> bool:
    """Two lanes hold the sums of responses of a pooled operator, whatever the input."""
    inputs = pooled_inputs(node)
    pool, indices = (graph.constants[name].array for name in (inputs.pool, inputs.indices))
    rounding = pooled_attrs(node).rounding
    return sums_fit_lanes(
        pool,
        indices,
        graph.quant(inputs.x).tensor_zero_point,
        rounding.activation_bits,
        rounding.response_shift,
        graph.shape(inputs.x)[-1],
    )
