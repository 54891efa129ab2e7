"""Fully connected layers on cores with the DSP extension: one row by four filters."""

from __future__ import annotations

import dataclasses

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.code_range import has_room_for_any_code
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.common.cost import Cost, residual_events
from edgec.kernels.common.dense_weights import flipped_words, odd_sums
from edgec.kernels.common.events import Event, Events
from edgec.kernels.common.flash_waits import for_weights
from edgec.kernels.common.form import KernelForm
from edgec.kernels.common.geometry import dense_window, is_gemm
from edgec.kernels.common.layer_end import end_of
from edgec.kernels.common.overlap import IN_PLACE, with_ending
from edgec.kernels.common.params import Params
from edgec.kernels.common.weighted import (
    CONVOLUTIONS,
    MATRIX_PRODUCTS,
    weighted_arguments,
)
from edgec.kernels.dsp.tile_1x4.parts import parts
from edgec.kernels.dsp.tile_1x4.spec import FILTERS, Tile1x4
from edgec.kernels.family import Distances, KernelFamily
from edgec.target.memory_map import Flash
from edgec.target.target import Target

_ROOMY_BYTES = 2048
"""The code of a loop of sixteen words, 72 bytes each, and what is around it: `tile_1x4.h`."""
_READ_AHEAD = 16
"""Bytes after the weights that a core with two issue slots reads."""


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A product of one row, also a pointwise convolution of one pixel, on a core with DSP."""
    if not target.has_dsp or getattr(node.attrs, "group", 1) != 1:
        return False
    if not isinstance(node.attrs, MATRIX_PRODUCTS) and not is_gemm(graph, node):
        return False
    found = spec(graph, node, target)
    small = found.scratch_bytes <= target.scratch_limit_bytes
    one_row = dense_window(graph, node).out_pixels == 1
    return one_row and small and has_room_for_any_code(graph, node)


def spec(graph: Graph, node: Node, target: Target) -> Tile1x4:
    """The specification for an operator that `accepts` accepts."""
    window = dense_window(graph, node)
    return Tile1x4(
        window.taps * window.channels,
        graph.shape(plain_inputs(node).w)[0],
        *end_of(graph, node),
        dual_issue=target.dual_issue,
        # Where branches cost nothing, a short loop only takes less time to read from flash.
        roomy=not target.dual_issue and target.runs_from_cache(_ROOMY_BYTES),
    )


def other_loops(spec: Tile1x4) -> tuple[Tile1x4, ...]:
    """Tiles whose loop has the other size (`roomy`); none where both sizes are one."""
    other = dataclasses.replace(spec, roomy=not spec.roomy)
    return () if other.unrolled == spec.unrolled else (other,)


def overlap(spec: Tile1x4) -> Distances:
    """All of x is read before the first output is written."""
    return with_ending(spec, IN_PLACE)


def arguments(graph: Graph, node: Node, spec: Tile1x4, pool: ConstantPool) -> tuple[Params, ...]:
    """Filters four by four, signs flipped."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        words = flipped_words(weights, FILTERS)
        if spec.dual_issue:
            words = np.pad(words.ravel(), (0, _READ_AHEAD))
        return words, bias + odd_sums(weights), multiplier

    return weighted_arguments(graph, node, pool, pack)


def events(spec: Tile1x4, _bits: int, _form: KernelForm) -> Events:
    """Tiles of four filters, those included that fill up the last tile."""
    turns = spec.words // spec.unrolled
    product = Event.TILE_1X4_MAC_DUAL if spec.dual_issue else Event.TILE_1X4_MAC
    return {
        product: spec.fours * spec.four_bytes,
        Event.TILE_1X4_TURN: spec.fours * turns if turns > 1 else 0,
        Event.TILE_1X4: spec.fours,
        Event.TILE_4X2_WIDEN: spec.words,
        Event.OUTPUT: spec.out_elements,
    } | residual_events(spec)


def waits(spec: Tile1x4, _bits: int, _form: KernelForm, flash: Flash) -> float:
    """Cycles waited for weights, each of which is read once."""
    return for_weights(spec.macs, flash)


FAMILY = KernelFamily(
    spec_type=Tile1x4,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    variants=other_loops,
    arguments=arguments,
    cost=Cost(events, waits),
    parts=parts,
)
