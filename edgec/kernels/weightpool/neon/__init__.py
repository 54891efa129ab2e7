"""Layers with pooled weights by responses, with NEON: one load serves eight positions."""

from __future__ import annotations

import math

import numpy as np

from edgec.base.errors import LoweringError
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import POOLED, layer_terms, pooled_attrs, pooled_inputs
from edgec.kernels.common.constants import ConstantPool, Params, int32_of
from edgec.kernels.common.layer_end import end_of
from edgec.kernels.common.overlap import by_blocks, with_ending
from edgec.kernels.common.parts import Parts, Run
from edgec.kernels.family import Distances, KernelFamily
from edgec.kernels.neon.layer import has_full_range
from edgec.kernels.neon.weights import ROWS
from edgec.kernels.weightpool.arguments import own_width, pool_arguments
from edgec.kernels.weightpool.decision import PoolFamily, PoolKernelConfig
from edgec.kernels.weightpool.gather.indices import stored_indices
from edgec.kernels.weightpool.geometry import pooled_window, window_indices
from edgec.kernels.weightpool.neon.layout import LANES
from edgec.kernels.weightpool.neon.spec import (
    BYTES_BEYOND,
    MOST_UNROLLED,
    Center,
    PooledConvNeon,
    centered_fold,
)
from edgec.kernels.weightpool.plain import check_exact
from edgec.target.target import Target


def accepts(_graph: Graph, _node: Node, _target: Target) -> bool:
    """Never by itself: how many rows and groups of channels to take is a planner's decision."""
    return False


def spec(_graph: Graph, node: Node, _target: Target) -> PooledConvNeon:
    """Never called.

    Raises:
        LoweringError: always.
    """
    raise LoweringError("a planner has to decide about this layer", where=node.name)


def planned(graph: Graph, node: Node, decision: PoolKernelConfig) -> PooledConvNeon | None:
    """The specification for a layer for which the planner has decided."""
    if decision.family is not PoolFamily.RESPONSES_NEON:
        return None
    return pooled_conv_neon(graph, node, decision)


def pooled_conv_neon(graph: Graph, node: Node, decision: PoolKernelConfig) -> PooledConvNeon:
    """`PooledConvNeon` of a QPooledConv or QPooledGemm.

    Raises:
        LoweringError: the node's responses are scaled, or the table is too large for 16-bit places.
    """
    check_exact(node)
    inputs, end = pooled_inputs(node), end_of(graph, node)
    pool, indices = (graph.constants[name].array for name in (inputs.pool, inputs.indices))
    window, terms = pooled_window(graph, node, lanes=1), layer_terms(graph, node)
    bits = None if decision.runtime_bits else pooled_attrs(node).rounding.activation_bits
    chunk = min(decision.chunk_groups, indices.shape[-1] // terms)
    center = Center(0, 1) if bits is None else Center.of(pool, bits)
    spec = PooledConvNeon(
        window=window,
        out_channels=indices.shape[0],
        group=pool.shape[1],
        index_bits=decision.index_bits,
        bits=bits,
        short=decision.short,
        shift=end.shift,
        residual_shift=end.residual_shift,
        terms=terms,
        pool_size=pool.shape[0],
        chunk_groups=chunk,
        band=math.gcd(decision.band or window.out_height, window.out_height),
        most=decision.vectors,
        center=center.code,
        run=min(center.run, MOST_UNROLLED),
        full_range=has_full_range(node),
    )
    if not spec.fits_entries:
        raise LoweringError(
            f"a table of {chunk * spec.group_step} responses is beyond 16-bit places",
            where=node.name,
            hint="take fewer groups of channels, or fewer rows, at a time",
        )
    return spec


def overlap(spec: PooledConvNeon) -> Distances:
    """A band of rows is written when the rows of its windows have been read."""
    band = spec.band * spec.window.out_width
    return with_ending(spec, by_blocks(spec.window, spec.out_channels, band), None)


def arguments(
    graph: Graph, node: Node, spec: PooledConvNeon, pool: ConstantPool
) -> tuple[Params, ...]:
    """Arguments: the vectors of the pool, and indices in the order of gathering."""
    inputs = pooled_inputs(node)
    vectors, bias = (graph.constants[name].array for name in (inputs.pool, inputs.b))
    if spec.bits is not None:
        bias = int32_of(bias + centered_fold(graph, node), node)
    stored = stored_indices(spec, window_indices(graph, node))
    indices = np.concatenate([stored, np.zeros(BYTES_BEYOND, np.uint8)])
    return pool_arguments(graph, node, pool, (vectors, indices), bias, short=spec.short)


def parts(spec: PooledConvNeon, _run: Run) -> Parts:
    """Activations spread, responses, sums of them, outputs."""
    window, passes = spec.window, spec.bands * spec.chunks
    blocks = sum((block.end - block.first) // block.step for block in spec.position_blocks)
    vectors = spec.out_positions // LANES
    sums = spec.bands * spec.out_channels
    entries = sums * spec.filter_entries
    built = spec.bands * spec.groups * spec.pool_size * spec.positions // LANES
    lists = spec.bands if spec.is_chunked else 1
    columns = [line.end - line.first for line in spec.lines]
    whole, rest = sum(n // LANES for n in columns), sum(n % LANES > 0 for n in columns)
    eights = passes * spec.line_rows * spec.planar_channels // LANES
    tiles = window.out_height * -(-window.out_width // ROWS) * spec.stored_filters // ROWS
    return Parts(
        {
            "index": lists * spec.out_channels * spec.filter_entries,
            "eight activations of eight channels": eights * whole,
            "some activations of eight channels": eights * rest,
            "vector of responses": built,
            "product of a vector of responses": built * spec.group,
            "entry of a block": entries * blocks,
            "vector of an entry": entries * vectors,
            "vector of sums of 16 bits": entries * vectors * spec.turn_sums / spec.unroll,
            "vector of sums": sums * spec.chunks * vectors,
            "tile": tiles,
        }
    )


FAMILY = KernelFamily(
    spec_type=PooledConvNeon,
    operators=POOLED,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    planned=planned,
    runtime_bits=own_width,
    parts=parts,
    saves_flash=True,
)
