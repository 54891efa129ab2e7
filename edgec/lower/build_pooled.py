"""`PooledConv` from a node of the integer graph and the planner's decision."""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import LoweringError
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.pool import WeightPool
from edgec.ir.weighted import pooled_attrs
from edgec.lower.build import image_window
from edgec.lower.layer_end import end_of, requant31_of
from edgec.lower.pool_bounds import sums_fit_lanes
from edgec.lower.pool_config import PoolKernelConfig
from edgec.lower.pool_tables import response_sums, response_table
from edgec.lower.spec_pooled import BLOCKS, PooledConv
from edgec.lower.window import Window

_NARROW_COST = 0.6
"""Of gathering a block of four columns, against one of eight."""


def pooled_conv(graph: Graph, node: Node, config: PoolKernelConfig) -> PooledConv:
    """`PooledConv` of a QPooledConv or QPooledGemm.

    Raises:
        LoweringError: the table is too large for 16-bit offsets, or two lanes cannot hold the sums.
    """
    attrs = node.attrs_as(qops.QPooledConv, qops.QPooledGemm)
    form, end, pooling = requant31_of(node), end_of(node), attrs.pooling
    pool, indices = (graph.constants[name].array for name in node.inputs[1:3])
    x_zero_point = graph.quant(node.inputs[0]).tensor_zero_point
    spec = PooledConv(
        window=pooled_window(graph, node, config.lanes),
        out_channels=indices.shape[0],
        pool_size=pool.shape[0],
        group=pool.shape[1],
        chunk_groups=min(config.chunk_groups, indices.shape[-1]),
        lanes=config.lanes,
        response_shift=pooling.response_shift,
        shift=end.shift,
        builder=config.builder,
        index_bits=config.index_bits,
        bits=None if config.runtime_bits else pooling.activation_bits,
        saturates=(form.low, form.high) == (INT8_MIN, INT8_MAX),
        zero_is_code_min=x_zero_point == INT8_MIN,
        keep_rows=config.keep_rows,
        tables_in_ram=config.tables_in_ram,
        residual_shift=end.residual_shift,
    )
    _check(graph, node, spec)
    return spec


def pooled_window(graph: Graph, node: Node, lanes: int) -> Window:
    """The geometry of a pooled operator.

    The rows of a matrix product, and the pixels of a pointwise convolution, may be arranged as any
    image: the one that is gathered in the fewest steps, then the one with the smallest table.
    """
    indices = graph.shape(node.inputs[2])
    if isinstance(node.attrs, qops.QPooledGemm):
        shape = graph.shape(node.inputs[0])
        return _matrix_window(math.prod(shape[:-1]), shape[-1], lanes)
    window = image_window(
        graph, node, node.attrs_as(qops.QPooledConv).conv, (indices[1], indices[2])
    )
    if window.is_pointwise:
        return _matrix_window(window.out_pixels, window.channels, lanes)
    return window


def window_indices(graph: Graph, node: Node) -> Array:
    """uint16 [O, KH, KW, groups] of a pooled operator."""
    indices = graph.constants[node.inputs[2]].array
    return indices[:, None, None] if indices.ndim == 2 else indices


def builder_table(spec: PooledConv, pool: WeightPool) -> Array:
    """What the builder of responses reads: uint32 [all_builder_words]."""
    table = response_table(pool, spec.builder)
    return np.concatenate([table, response_sums(pool)]) if spec.needs_sums else table


def _matrix_window(rows: int, depth: int, lanes: int) -> Window:
    heights = [h for h in range(1, rows + 1) if rows % h == 0]
    height = min(heights, key=lambda h: (_gather_cost(h, rows // h, lanes), rows // h))
    width = rows // height
    return Window(height, width, depth, height, width, 1, 1, 1, 1, 0, 0, 1, 1)


def _gather_cost(height: int, width: int, lanes: int) -> float:
    wide, rest = divmod(width, BLOCKS[0])
    last = 0.0 if rest == 0 else _NARROW_COST if rest <= BLOCKS[1] else 1.0
    return -(-height // lanes) * (wide + last)


def _check(graph: Graph, node: Node, spec: PooledConv) -> None:
    if not spec.fits_entries:
        raise LoweringError(
            f"a table of {spec.chunk_groups * spec.group_bytes} bytes of responses is beyond "
            "16-bit offsets",
            where=node.name,
            hint="take fewer groups of channels at a time",
        )
    if spec.lanes == 1:
        if spec.response_shift:
            raise LoweringError("one lane holds exact responses only", where=node.name)
        return
    if not fits_lanes(graph, node):
        raise LoweringError(
            f"sums of responses shifted by {spec.response_shift} do not fit 16 bits",
            where=node.name,
            hint="pool_bounds.least_response_shift gives a shift with which they do",
        )


def fits_lanes(graph: Graph, node: Node) -> bool:
    """Two lanes hold the sums of responses of a pooled operator, whatever the input."""
    pool, indices = (graph.constants[name].array for name in node.inputs[1:3])
    pooling = pooled_attrs(node).pooling
    return sums_fit_lanes(
        pool,
        indices,
        graph.quant(node.inputs[0]).tensor_zero_point,
        pooling.activation_bits,
        pooling.response_shift,
        graph.shape(node.inputs[0])[-1],
    )
