"""Convolutions on cores with the DSP extension: one row of output pixels at a time."""

from __future__ import annotations

import dataclasses

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import is_int8_layer
from edgec.kernels.common.code_range import has_room_for_any_code
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.dense import WORD
from edgec.kernels.common.overlap import by_blocks, with_ending
from edgec.kernels.common.parts import UNMEASURED, Parts, Run
from edgec.kernels.common.weighted import CONVOLUTIONS, weighted_arguments
from edgec.kernels.dsp import dense_4x2_s8_dsp as dense_4x2_s8_dsp
from edgec.kernels.dsp.conv_4x2_s8_dsp.spec import Conv4x2
from edgec.kernels.dsp.dense_4x2_s8_dsp import loop_bytes, tile_parts
from edgec.kernels.dsp.dense_4x2_s8_dsp.rows import ROWS
from edgec.kernels.family import Distances, KernelFamily
from edgec.target.target import Target

_CODE_BYTES = 1000


def parts(spec: Conv4x2, _run: Run) -> Parts:
    """Counts of a call; nobody has measured other ends than a multiplier of 31 bits."""
    w = spec.image
    lines = -(-w.out_height // spec.lines)
    counts: dict[str, float] = {"call": 1, "batch of lines": lines}
    if spec.shares_columns:
        rows = w.out_height * w.kernel_h
        counts |= {
            "row of columns": rows,
            "column": rows * spec.columns,
            "word of a column": rows * spec.columns * (w.channels // 4),
            "start of a pixel": spec.rows * w.kernel_w,
        }
    else:
        copied = lines * ((spec.lines - 1) * w.stride_h + spec.rows_of_window)
        runs = spec.rows * w.kernel_h
        counts |= {
            "copied row": copied,
            "copied byte": copied * spec.copied_row,
            "pixel": spec.rows,
            "run": runs,
            "word of a run": spec.rows * spec.words,
        }
        if spec.run_rest:
            counts[f"rest of {spec.run_rest} bytes"] = runs
    counts |= tile_parts(spec)
    if spec.rescale16 is not None:
        counts[UNMEASURED] = 1
    return Parts(counts, _CODE_BYTES + loop_bytes(spec), spec.weight_reads, copies=True)


_MOST_IDLE = 0.25
"""Share of pixels computed twice at the end of a line beyond which blocks that go on in the next
line (`dense_4x2_s8_dsp`) take less, on the layers of MLPerf Tiny in the cycle model."""


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """Whether it computes the node, and faster than `dense_4x2_s8_dsp`."""
    if not computes(graph, node, target):
        return False
    found = spec(graph, node, target)
    few = found.blocks * ROWS <= found.rows * (1 + _MOST_IDLE)
    return few and found.image.taps > 1


def computes(graph: Graph, node: Node, target: Target) -> bool:
    """Whether the core has the DSP extension, and the node what `Conv4x2` asks for."""
    if not target.has_dsp or getattr(node.attrs, "group", 1) != 1:
        return False
    found = spec(graph, node, target)
    return _serves(found, target) and (not found.any_code or has_room_for_any_code(graph, node))


def _serves(spec: Conv4x2, target: Target) -> bool:
    if spec.window is None or not spec.fuses or spec.end == "rescale16_added":
        return False
    fits = spec.reaches and spec.scratch_bytes <= target.scratch_limit_bytes
    return spec.window.columns_are_runs and spec.has_blocks and fits


def spec(graph: Graph, node: Node, target: Target) -> Conv4x2:
    """The specification for a convolution of one group, of any form."""
    tile = dense_4x2_s8_dsp.spec(graph, node, target)
    values = (getattr(tile, field.name) for field in dataclasses.fields(tile))
    return Conv4x2(*values)


def overlap(spec: Conv4x2) -> Distances:
    """Distances: all inputs of `lines` output rows are read before the first is written."""
    w = spec.image
    return with_ending(spec, by_blocks(w, spec.row_bytes, spec.lines * w.out_width))


def arguments(graph: Graph, node: Node, spec: Conv4x2, pool: ConstantPool) -> tuple[Params, ...]:
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
        lambda weights, *others: dense_4x2_s8_dsp.packed(spec, order(weights), *others),
        pad=lambda numbers: dense_4x2_s8_dsp.filled_up(spec, numbers),
        interleaves=spec.interleaves,
        stream=dense_4x2_s8_dsp.streamed if spec.streams else None,
    )


FAMILY = KernelFamily(
    spec_type=Conv4x2,
    operators=CONVOLUTIONS,
    types=is_int8_layer,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    computes=computes,
    variants=dense_4x2_s8_dsp.other_loops,
    arguments=arguments,
    weight_reads=lambda spec: spec.weight_reads,
    parts=parts,
)
