"""Convolutions and matrix products on Cortex-M cores without the DSP extension.

Three activations share a word, so that one product serves three rows, with two or four filters.
"""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.common.cost import Cost, residual_events
from edgec.kernels.common.dense_weights import by_column
from edgec.kernels.common.events import Events
from edgec.kernels.common.form import KernelForm
from edgec.kernels.common.geometry import dense_window
from edgec.kernels.common.layer_end import end_of, ends_in_requant31
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.overlap import by_blocks, out_bytes, with_ending
from edgec.kernels.common.params import Params
from edgec.kernels.common.short_product import product_of, with_product
from edgec.kernels.common.tile_cost import tile_events, tile_waits
from edgec.kernels.common.weighted import (
    CONVOLUTIONS,
    MATRIX_PRODUCTS,
    weighted_arguments,
)
from edgec.kernels.family import Distances, KernelFamily
from edgec.kernels.small.tile_3x4.spec import ROWS, STEPS, Tile3x4
from edgec.target.target import Target

_LARGEST_SUM = 8191
"""Largest sum of |w| in a segment: with activations of up to 128 the sums stay below 2^20."""

_FEW = 4
"""Filters for which it does not pay to pack activations."""


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A convolution of one group, or a product of several rows, where a product is of one pair.

    A single row would waste the room of two more.
    """
    if not target.is_cortex_m or target.has_dsp or target.has_mve:
        return False
    if getattr(node.attrs, "group", 1) != 1:
        return False
    found = spec(graph, node, target)
    enough = found.window.out_pixels > 1 and found.out_channels >= _FEW
    return enough and found.scratch_bytes <= target.scratch_limit_bytes


def spec(graph: Graph, node: Node, target: Target) -> Tile3x4:
    """The specification for a convolution or matrix product, in either arithmetic.

    The sums of four filters need registers that Armv6-M's instructions do not reach.
    """
    filters = 4 if target.has_wide_thumb else 2
    weights = graph.constants[plain_inputs(node).w].array
    rows = weights.reshape(weights.shape[0], -1)
    product = product_of(graph, node, target)
    return Tile3x4(
        dense_window(graph, node),
        len(rows),
        *with_product(end_of(graph, node), product),
        filters=filters,
        segment=_segment(rows, STEPS[filters]),
        product=product,
        saturates=ends_in_requant31(node, INT8_MIN, INT8_MAX),
    )


def _segment(rows: Array, step: int) -> int:
    """The longest equal segments, of a multiple of `step` weights, whose sums have room."""
    sizes = np.abs(rows.astype(np.int64))
    steps = -(-rows.shape[1] // step)
    for parts in range(1, steps + 1):
        segment: int = -(-steps // parts) * step
        starts = np.arange(0, rows.shape[1], segment)
        if np.add.reduceat(sizes, starts, axis=1).max() <= _LARGEST_SUM:
            return segment
    return step


def overlap(spec: Tile3x4) -> Distances:
    """The windows of three rows are read before the first of them is written."""
    return with_ending(spec, by_blocks(spec.window, spec.out_channels * out_bytes(spec), ROWS))


def arguments(graph: Graph, node: Node, spec: Tile3x4, pool: ConstantPool) -> tuple[Params, ...]:
    """A few filters at a time, one weight of each in turn."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        return by_column(weights, spec.filters, spec.padded_depth), bias, multiplier

    return weighted_arguments(graph, node, pool, pack)


def events(spec: Tile3x4, _bits: int, _form: KernelForm) -> Events:
    """Tiles of three rows and two or four filters."""
    return tile_events(spec, spec.filters) | residual_events(spec)


COST = Cost(events, tile_waits)


FAMILY = KernelFamily(
    spec_type=Tile3x4,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    lengths=Counted("rows", lambda spec: spec.window.is_pointwise),
    cost=COST,
)
