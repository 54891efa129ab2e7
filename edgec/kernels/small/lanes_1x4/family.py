"""Fully connected layers on Cortex-M cores without the DSP extension: one row by four filters.

A product with two weights in a word is two products; for several rows `tile_5x2` is faster.
"""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MIN, INT32_MAX
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.common.cost import Cost, residual_events
from edgec.kernels.common.dense_weights import by_column
from edgec.kernels.common.events import Event, Events
from edgec.kernels.common.flash_waits import for_weights
from edgec.kernels.common.form import KernelForm
from edgec.kernels.common.geometry import dense_window, is_gemm
from edgec.kernels.common.layer_end import end_of
from edgec.kernels.common.overlap import IN_PLACE, with_ending
from edgec.kernels.common.params import Params
from edgec.kernels.common.short_product import product_of, with_product
from edgec.kernels.common.weighted import (
    CONVOLUTIONS,
    MATRIX_PRODUCTS,
    accumulator_start,
    weighted_arguments,
)
from edgec.kernels.family import Distances, KernelFamily
from edgec.kernels.small.lanes_1x4.parts import parts
from edgec.kernels.small.lanes_1x4.spec import FILTERS, MOST_DEPTH, Lanes1x4
from edgec.target.memory_map import Flash
from edgec.target.target import Target


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A product of one row, also a pointwise convolution of one pixel, where SIMD is missing."""
    if not target.is_cortex_m or target.has_dsp or target.has_mve:
        return False
    if getattr(node.attrs, "group", 1) != 1:
        return False
    if not isinstance(node.attrs, MATRIX_PRODUCTS) and not is_gemm(graph, node):
        return False
    found = spec(graph, node, target)
    small = found.scratch_bytes <= target.scratch_limit_bytes and found.depth <= MOST_DEPTH
    return small and dense_window(graph, node).out_pixels == 1 and _has_room(graph, node)


def _has_room(graph: Graph, node: Node) -> bool:
    """Whether the biases with what they hold more fit int32."""
    weights = graph.constants[plain_inputs(node).w].array
    start = accumulator_start(graph, node) + _more(weights)
    return bool(np.all(np.abs(start) <= INT32_MAX))


def _more(weights: Array) -> Array:
    """What the sums of each filter lack: int64 [O], the last two terms of `edgec/lanes_1x4.h`."""
    rows = weights.reshape(len(weights), -1).astype(np.int64)
    return np.asarray(INT8_MIN * (rows - INT8_MIN).sum(axis=1) + INT8_MIN**2 * rows.shape[1])


def spec(graph: Graph, node: Node, target: Target) -> Lanes1x4:
    """The specification for an operator that `accepts` accepts."""
    window = dense_window(graph, node)
    product = product_of(graph, node, target)
    return Lanes1x4(
        window.taps * window.channels,
        graph.shape(plain_inputs(node).w)[0],
        *with_product(end_of(graph, node), product),
        product=product,
    )


def overlap(spec: Lanes1x4) -> Distances:
    """All of x is read before the first output is written."""
    return with_ending(spec, IN_PLACE)


def arguments(graph: Graph, node: Node, spec: Lanes1x4, pool: ConstantPool) -> tuple[Params, ...]:
    """Four filters at a time, one weight of each in turn, the signs flipped."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        columns = by_column(weights, FILTERS, spec.padded_depth)
        return columns ^ np.int8(INT8_MIN), bias + _more(weights), multiplier

    return weighted_arguments(graph, node, pool, pack)


def events(spec: Lanes1x4, _bits: int, _form: KernelForm) -> Events:
    """Tiles of four filters, those included that fill up the last tile."""
    return {
        Event.LANES_1X4_MAC: spec.fours * FILTERS * spec.padded_depth,
        Event.TILE: spec.fours,
        Event.WIDEN: spec.padded_depth / 4,
        Event.OUTPUT: spec.out_elements,
    } | residual_events(spec)


def waits(spec: Lanes1x4, _bits: int, _form: KernelForm, flash: Flash) -> float:
    """Cycles waited for weights, each of which is read once."""
    return for_weights(spec.macs, flash)


FAMILY = KernelFamily(
    spec_type=Lanes1x4,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    cost=Cost(events, waits),
    parts=parts,
)
