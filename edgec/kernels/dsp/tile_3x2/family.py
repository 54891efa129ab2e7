"""Convolutions and matrix products on cores with the DSP extension: three rows by two filters."""

from __future__ import annotations

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.common.cost import Cost, residual_events
from edgec.kernels.common.dense_weights import FILTERS, interleaved
from edgec.kernels.common.events import Events
from edgec.kernels.common.form import KernelForm
from edgec.kernels.common.geometry import dense_window
from edgec.kernels.common.layer_end import end_of
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.overlap import by_blocks, out_bytes, with_ending
from edgec.kernels.common.params import Params
from edgec.kernels.common.tile_cost import tile_events, tile_waits
from edgec.kernels.common.weighted import (
    CONVOLUTIONS,
    MATRIX_PRODUCTS,
    weighted_arguments,
)
from edgec.kernels.dsp.tile_3x2.parts import parts
from edgec.kernels.dsp.tile_3x2.spec import ROWS, Tile3x2
from edgec.kernels.family import Distances, KernelFamily
from edgec.target.memory_map import Flash
from edgec.target.target import Target


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A convolution of one group, or a product of several rows, on a core with the DSP extension.

    A single row would leave two rows of three idle, and gain nothing from widening in advance.
    Windows that are too large when widened are left to the plain kernel, which gathers bytes.
    """
    if not target.has_dsp or getattr(node.attrs, "group", 1) != 1:
        return False
    found = spec(graph, node, target)
    return found.window.out_pixels > 1 and found.scratch_bytes <= target.scratch_limit_bytes


def spec(graph: Graph, node: Node, _target: Target) -> Tile3x2:
    """The specification for a convolution of one group or a matrix product, of either form."""
    filters = graph.shape(plain_inputs(node).w)[0]
    return Tile3x2(dense_window(graph, node), filters, *end_of(graph, node))


def overlap(spec: Tile3x2) -> Distances:
    """The windows of three rows are read before the first of them is written."""
    return with_ending(spec, by_blocks(spec.window, spec.out_channels * out_bytes(spec), ROWS))


def arguments(graph: Graph, node: Node, _spec: Tile3x2, pool: ConstantPool) -> tuple[Params, ...]:
    """Filters two by two."""
    return weighted_arguments(graph, node, pool, _pack)


def _pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
    return interleaved(weights), bias, multiplier


def events(spec: Tile3x2, _bits: int, _form: KernelForm) -> Events:
    """Tiles of three rows and two filters."""
    return tile_events(spec, ROWS, FILTERS) | residual_events(spec)


def waits(spec: Tile3x2, _bits: int, _form: KernelForm, flash: Flash) -> float:
    """Cycles waited for weights, which three rows share."""
    return tile_waits(spec, ROWS, flash)


COST = Cost(events, waits)


FAMILY = KernelFamily(
    spec_type=Tile3x2,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    lengths=Counted("rows", lambda spec: spec.window.is_pointwise),
    cost=COST,
    parts=parts,
)
