"""Convolutions on cores with the DSP extension: a line of output pixels at a time."""

from __future__ import annotations

import dataclasses

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.code_range import has_room_for_any_code
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.common.cost import Cost, residual_events
from edgec.kernels.common.dense_weights import WORD
from edgec.kernels.common.events import Event, Events
from edgec.kernels.common.flash_waits import for_weights
from edgec.kernels.common.form import KernelForm
from edgec.kernels.common.overlap import by_blocks, with_ending
from edgec.kernels.common.params import Params
from edgec.kernels.common.weighted import CONVOLUTIONS, weighted_arguments
from edgec.kernels.dsp.line_4x2.parts import parts
from edgec.kernels.dsp.line_4x2.spec import Line4x2
from edgec.kernels.dsp.tile_4x2 import family as tile_4x2
from edgec.kernels.dsp.tile_4x2.blocks import ROWS
from edgec.kernels.family import Distances, KernelFamily
from edgec.target.memory_map import Flash
from edgec.target.target import Target

_MOST_IDLE = 0.25
"""Share of pixels computed twice at the end of a line beyond which blocks that go on in the next
line (`tile_4x2`) take less, on the layers of MLPerf Tiny in the cycle model."""


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """Whether it computes the node, and faster than `tile_4x2`."""
    if not computes(graph, node, target):
        return False
    found = spec(graph, node, target)
    few = found.blocks * ROWS <= found.rows * (1 + _MOST_IDLE)
    return few and found.image.taps > 1


def computes(graph: Graph, node: Node, target: Target) -> bool:
    """Whether the core has the DSP extension, and the node what `Line4x2` asks for."""
    if not target.has_dsp or getattr(node.attrs, "group", 1) != 1:
        return False
    found = spec(graph, node, target)
    return _serves(found, target) and (not found.any_code or has_room_for_any_code(graph, node))


def _serves(spec: Line4x2, target: Target) -> bool:
    if spec.window is None or not spec.fuses or spec.end == "rescale16_added":
        return False
    fits = spec.reaches and spec.scratch_bytes <= target.scratch_limit_bytes
    return spec.window.columns_are_runs and spec.has_blocks and fits


def spec(graph: Graph, node: Node, target: Target) -> Line4x2:
    """The specification for a convolution of one group, of any form."""
    tile = tile_4x2.spec(graph, node, target)
    values = (getattr(tile, field.name) for field in dataclasses.fields(tile))
    return Line4x2(*values)


def overlap(spec: Line4x2) -> Distances:
    """What a few lines of pixels read is read before the first of them is written."""
    w = spec.image
    return with_ending(spec, by_blocks(w, spec.row_bytes, spec.lines * w.out_width))


def arguments(graph: Graph, node: Node, spec: Line4x2, pool: ConstantPool) -> tuple[Params, ...]:
    """Filters two by two, signs flipped, in the order in which a window is walked through."""

    def order(weights: Array) -> Array:
        w = spec.image
        if not spec.shares_columns:
            runs = weights.reshape(len(weights), w.kernel_h, w.kernel_w * w.channels)
            parts = np.split(runs, [spec.run_words * WORD], axis=2)
            return np.concatenate([part.reshape(len(weights), -1) for part in parts], axis=1)
        windows = weights.reshape(len(weights), w.kernel_h, w.kernel_w, w.channels)
        return windows.swapaxes(1, 2)

    return weighted_arguments(
        graph,
        node,
        pool,
        lambda weights, *others: tile_4x2.packed(spec, order(weights), *others),
        pad=lambda numbers: tile_4x2.filled_up(spec, numbers),
        interleaves=spec.interleaves,
        stream=tile_4x2.streamed if spec.streams else None,
    )


def events(spec: Line4x2, _bits: int, _form: KernelForm) -> Events:
    """Tiles of four pixels and two filters; pixels that two blocks compute count twice."""
    w = spec.image
    tiles = spec.blocks * spec.pairs
    turns = spec.words // spec.unrolled
    product = Event.TILE_4X2_MAC_DUAL if spec.dual_issue else Event.TILE_4X2_MAC
    pixels = w.out_height * (spec.columns if spec.shares_columns else w.out_width)
    words = spec.column_words // 2 if spec.shares_columns else spec.words
    found: dict[Event, float] = {
        product: 2 * ROWS * tiles * spec.depth,
        Event.TILE_4X2_TURN: tiles * turns if turns > 1 else 0,
        Event.TILE_4X2: tiles,
        Event.TILE_4X2_WIDEN: pixels * words,
        Event.COPY: pixels if spec.shares_columns else w.out_height * spec.rows_of_window,
        Event.TILE_4X2_OUTPUTS: tiles,
    }
    return found | residual_events(spec)


def waits(spec: Line4x2, _bits: int, _form: KernelForm, flash: Flash) -> float:
    """Cycles waited for weights, each of which is read once for four pixels."""
    return for_weights(spec.macs / ROWS, flash)


FAMILY = KernelFamily(
    spec_type=Line4x2,
    operators=CONVOLUTIONS,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    computes=computes,
    variants=tile_4x2.other_loops,
    arguments=arguments,
    weight_reads=lambda spec: spec.weight_reads,
    cost=Cost(events, waits),
    parts=parts,
)
