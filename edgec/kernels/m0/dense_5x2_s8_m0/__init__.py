"""Convolutions and matrix products on Cortex-M cores without the DSP extension.

Five activations share three words, so that three products serve five rows, with two filters.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import is_int8_layer, plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.dense import by_column
from edgec.kernels.common.layer_end import end_of, ends_in_requant31
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.overlap import by_starts, with_ending
from edgec.kernels.common.parts import UNMEASURED, Parts, Run, WeightReads, numbers_of
from edgec.kernels.common.short_product import product_of, with_product
from edgec.kernels.common.weighted import CONVOLUTIONS, MATRIX_PRODUCTS, weighted_arguments
from edgec.kernels.common.window import dense_window
from edgec.kernels.family import Distances, KernelFamily
from edgec.kernels.m0.dense_5x2_s8_m0.spec import BATCHES, FILTERS, ROWS, Dense5x2
from edgec.target.target import Target

_CODE_BYTES = 1200


def parts(spec: Dense5x2, _run: Run) -> Parts:
    """Counts of a call; only fixed lengths and multipliers of 31 bits were measured."""
    starts = np.unique(spec.block_starts)
    ends = np.append(starts[1:], spec.rows)
    small = int(np.sum(ends - starts <= 3)) if spec.by_three else 0
    blocks = len(starts)
    pairs = -(-spec.out_channels // FILTERS)
    w = spec.window
    runs = 0 if spec.is_product else w.kernel_h * (1 if w.columns_are_runs else w.kernel_w)
    counts: dict[str, float] = {
        "call": 1,
        "block": blocks,
        "run": blocks * ROWS * runs,
        "clipped run": blocks * ROWS * runs if spec.clipped else 0,
        "packed column": blocks * spec.padded_depth,
        "batch": blocks * -(-spec.out_channels // spec.batch),
    }
    for name, count in (("five", blocks - small), ("three", small)):
        tiles = count * pairs * spec.segments
        counts |= {
            f"tile of {name} rows": tiles,
            f"product of {name} rows": count * pairs * spec.padded_depth,
            f"part of sums of {name} rows": count * spec.out_channels * spec.segments,
            f"filter of {name} rows": count * spec.out_channels,
        }
    counts["addition"] = spec.out_elements if spec.adds else 0
    if spec.rescale16 is not None or spec.variable:
        counts[UNMEASURED] = 1
    return Parts(
        counts,
        _CODE_BYTES,
        WeightReads(spec.stored_bytes, blocks, numbers_of(spec.out_channels)),
        copies=True,
        load_bytes=FILTERS,
    )


_LARGEST_SUM = 2047
"""Largest sum of |w| in a segment: with activations of up to 128 the sums stay below 2^18."""

_TURN_ARMV6M = 4
"""Activations in a turn of the loop for Armv6-M."""

_SCRATCH_BYTES = 24 * 1024
"""The most scratch memory: these cores have no data cache that it would leave."""

_FEW = 4
"""Filters for which it does not pay to pack activations."""


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """Whether it computes the node, and faster than plain C.

    A single row would waste the room of two more.
    """
    if not computes(graph, node, target):
        return False
    found = spec(graph, node, target)
    return found.window.out_pixels > 1 and found.out_channels >= _FEW


def computes(graph: Graph, node: Node, target: Target) -> bool:
    """A convolution of one group, or a matrix product, where a product is of one pair."""
    if not target.is_cortex_m or target.has_dsp or target.has_mve:
        return False
    if getattr(node.attrs, "group", 1) != 1:
        return False
    return spec(graph, node, target).scratch_bytes <= target.scratch_limit(_SCRATCH_BYTES)


def spec(graph: Graph, node: Node, target: Target) -> Dense5x2:
    """The specification for a convolution or matrix product, in either arithmetic.

    Sums of as many filters wait as scratch memory has room for beside the activations.
    """
    step = 1 if target.has_wide_thumb else _TURN_ARMV6M
    weights = graph.constants[plain_inputs(node).w].array
    rows = weights.reshape(weights.shape[0], -1)
    product = product_of(graph, node, target)
    found = Dense5x2(
        dense_window(graph, node),
        len(rows),
        *with_product(end_of(graph, node), product),
        step=step,
        segment=_segment(rows, step),
        product=product,
        saturates=ends_in_requant31(node, INT8_MIN, INT8_MAX),
        sharing=target.sharing,
    )
    sizes = (replace(found, most_filters=most) for most in BATCHES)
    room = target.scratch_limit(_SCRATCH_BYTES)
    return next((each for each in sizes if each.scratch_bytes <= room), found)


def _segment(rows: Array, step: int) -> int:
    """The longest equal segments, of a multiple of `step` weights, whose sums have room."""
    sizes = np.abs(rows.astype(np.int64))
    steps = -(-rows.shape[1] // step)
    # Fewer segments have no room for the largest of all sums.
    fewest = -(-int(sizes.sum(axis=1).max()) // _LARGEST_SUM)
    for count in range(max(fewest, 1), steps + 1):
        segment: int = -(-steps // count) * step
        starts = np.arange(0, rows.shape[1], segment)
        if np.add.reduceat(sizes, starts, axis=1).max() <= _LARGEST_SUM:
            return segment
    return step


def overlap(spec: Dense5x2) -> Distances:
    """The windows of a block of rows are read before the first of them is written."""
    row_bytes = spec.out_channels * spec.out_bytes
    return with_ending(spec, by_starts(spec.window, row_bytes, spec.block_starts))


def arguments(graph: Graph, node: Node, spec: Dense5x2, pool: ConstantPool) -> tuple[Params, ...]:
    """Two filters at a time, one weight of each in turn."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        return by_column(weights, FILTERS, spec.padded_depth), bias, multiplier

    return weighted_arguments(graph, node, pool, pack)


def weight_reads(spec: Dense5x2) -> WeightReads:
    """Each block of rows reads all weights."""
    return WeightReads(spec.stored_bytes, -(-spec.rows // ROWS))


FAMILY = KernelFamily(
    spec_type=Dense5x2,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=is_int8_layer,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    computes=computes,
    arguments=arguments,
    lengths=Counted("rows", lambda spec: spec.window.is_pointwise),
    weight_reads=weight_reads,
    parts=parts,
)
