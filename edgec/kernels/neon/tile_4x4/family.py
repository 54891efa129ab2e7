"""Convolutions and matrix products on cores with NEON: four rows by four filters."""

from __future__ import annotations

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MIN
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.common.cost import Cost, residual_events
from edgec.kernels.common.events import Event, Events
from edgec.kernels.common.form import KernelForm
from edgec.kernels.common.geometry import dense_window
from edgec.kernels.common.layer_end import end_of
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.overlap import by_blocks, out_bytes, with_ending
from edgec.kernels.common.params import Params
from edgec.kernels.common.weighted import (
    CONVOLUTIONS,
    MATRIX_PRODUCTS,
    weighted_arguments,
)
from edgec.kernels.family import Distances, KernelFamily
from edgec.kernels.neon.tile_4x4.spec import Tile4x4
from edgec.kernels.neon.weights import LANES, ROWS, packed, padded
from edgec.target.target import Target


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A convolution of one group or a matrix product, no weight being -128."""
    if not target.has_neon or getattr(node.attrs, "group", 1) != 1:
        return False
    return int(graph.constants[plain_inputs(node).w].array.min(initial=0)) > INT8_MIN


def spec(graph: Graph, node: Node, _target: Target) -> Tile4x4:
    """The specification for a convolution of one group or a matrix product, of either form."""
    filters = graph.shape(plain_inputs(node).w)[0]
    return Tile4x4(dense_window(graph, node), filters, *end_of(graph, node))


def overlap(spec: Tile4x4) -> Distances:
    """The windows of four rows are read before the first of them is written."""
    return with_ending(spec, by_blocks(spec.window, spec.out_channels * out_bytes(spec), ROWS))


def arguments(graph: Graph, node: Node, _spec: Tile4x4, pool: ConstantPool) -> tuple[Params, ...]:
    """Filters four by four."""
    return weighted_arguments(graph, node, pool, _pack, pad=padded)


def _pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
    return packed(weights), padded(bias), padded(multiplier)


def events(spec: Tile4x4, _bits: int, _form: KernelForm) -> Events:
    """Tiles of four rows and filters; the last ones are filled up, except for a lone row."""
    depth = spec.blocks * LANES
    rows = spec.rows if spec.rows == 1 else -(-spec.rows // ROWS) * ROWS
    tiles = -(-rows // ROWS) * -(-spec.out_channels // ROWS)
    return {
        Event.NEON_MAC: rows * -(-spec.out_channels // ROWS) * ROWS * depth,
        Event.NEON_TILE: tiles,
        Event.NEON_PACK: rows * depth / 4,
        Event.OUTPUT: spec.out_elements,
        **residual_events(spec),
    }


COST = Cost(events)


FAMILY = KernelFamily(
    spec_type=Tile4x4,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    lengths=Counted("rows", lambda spec: spec.window.is_pointwise),
    cost=COST,
)
