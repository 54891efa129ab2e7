"""Layers with pooled weights, looked up bit by bit: the form of Li & Gupta (MLSys 2022)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array, frozen
from edgec.base.errors import LoweringError
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.pooled import round_codes
from edgec.ir.weight_pool import WeightPool
from edgec.ir.weighted import POOLED, layer_terms, pooled_attrs, pooled_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.layer_end import end_of
from edgec.kernels.common.overlap import by_pixel, with_ending
from edgec.kernels.common.parts import Parts, Run, TableReads
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.weightpool.arguments import own_width, pool_arguments
from edgec.kernels.weightpool.decision import PoolFamily, PoolKernelConfig, default_config
from edgec.kernels.weightpool.decoded import CODE_OFFSET
from edgec.kernels.weightpool.events import TABLE, Event
from edgec.kernels.weightpool.geometry import pooled_window
from edgec.kernels.weightpool.plain import (
    CODE_BITS,
    POOL_WORD_BYTES,
    PooledDense,
    check_exact,
    row_sums,
    stacked,
)
from edgec.kernels.weightpool.tables import ResponseKind, part_channels, response_table
from edgec.kernels.weightpool.unrolled import (
    CodePair,
    PlaneRow,
    code_pairs,
    numbers_by_plane,
    packed_indices,
    plane_rows,
    spilled_rows,
)
from edgec.target.target import Target

DIRECT_POOL_SIZE = 256
"""Most vectors of a pool that `PooledDirect` serves: offsets into its table have 16 bits."""


@dataclass(frozen=True, slots=True)
class PooledDirect(PooledDense):
    """Looks up, for each filter, vector and bit plane, the sum of the weights whose bit is set.

    A vector's bit planes are found once for all filters and terms; so indices are stored as [tap,
    vector, term, filter].

    Attributes:
        pool_size: vectors of the pool.
        builder: whose look-up table it is, `BITSERIAL` or `NIBBLE`.
    """

    family: ClassVar[str] = "pooled_direct"
    template: ClassVar[Path] = template_beside(__file__, "pooled_direct")
    pool_size: int
    builder: ResponseKind

    @property
    def part(self) -> int:
        """Channels whose bits make up the number of a row of the table."""
        return part_channels(self.builder, self.group)

    @property
    def parts(self) -> int:
        """Look-ups for one vector and bit plane."""
        return self.group // self.part

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of the table."""
        return -(-self.pool_size // POOL_WORD_BYTES) * POOL_WORD_BYTES

    @property
    def planes(self) -> int:
        """Most bit planes that are looked up."""
        return CODE_BITS if self.bits is None else self.bits

    @property
    def code_words(self) -> tuple[CodePair, ...]:
        """The words of codes whose bit planes are found together."""
        return code_pairs(self.group)

    @property
    def rows(self) -> tuple[PlaneRow, ...]:
        """The rows of the look-up table of a vector, the highest plane first."""
        last = CODE_BITS - 1
        return plane_rows(range(last, last - self.planes, -1), self.part, self.parts)

    @property
    def rows_by_plane(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the rows of each plane."""
        return numbers_by_plane(self.planes, self.parts)

    @property
    def part_mask(self) -> int:
        """The bits of the number of a row."""
        return (1 << self.part) - 1

    @property
    def look_ups(self) -> int:
        """Vectors of the pool in a filter."""
        return self.filter_indices

    @property
    def looked_up(self) -> int:
        """Sum of the table entries' offsets in a filter's sum, modulo 2^32."""
        looked_up = (256 - (1 << (CODE_BITS - self.planes))) * CODE_OFFSET * self.look_ups
        return looked_up % 2**32

    @property
    def unpacks(self) -> bool:
        """Indices are expanded to bytes in scratch memory first."""
        return self.index_bits != 8

    @property
    def indices_start(self) -> int:
        """Place of the expanded indices, after the sums uint32 [out_channels]."""
        return POOL_WORD_BYTES * self.out_channels

    @property
    def scratch_bytes(self) -> int:
        """Sums and indices."""
        return self.indices_start + (self.out_channels * self.look_ups if self.unpacks else 0)

    def describe(self) -> str:
        """Operator, shapes and method in words, for a comment in C."""
        return self._describe("looked up bit by bit")


def accepts(_graph: Graph, _node: Node, _target: Target) -> bool:
    """No layer: it serves where the planner decides for it."""
    return False


def spec(graph: Graph, node: Node, _target: Target) -> PooledDirect:
    """With little memory."""
    return pooled_direct(graph, node, default_config(graph, node))


def planned(graph: Graph, node: Node, decision: PoolKernelConfig) -> PooledDirect | None:
    """The specification for a layer for which the planner has decided."""
    if decision.family is not PoolFamily.DIRECT:
        return None
    return pooled_direct(graph, node, decision)


def pooled_direct(graph: Graph, node: Node, config: PoolKernelConfig) -> PooledDirect:
    """`PooledDirect` of a QPooledConv or QPooledGemm.

    Raises:
        LoweringError: the node's responses are scaled, or its pool is too large.
    """
    check_exact(node)
    inputs = pooled_inputs(node)
    size, group = graph.shape(inputs.pool)
    if size > DIRECT_POOL_SIZE:
        raise LoweringError(
            f"a pool of {size} vectors is too large for the direct bit-serial kernel",
            where=node.name,
            hint=f"it serves up to {DIRECT_POOL_SIZE} vectors; take another kernel",
        )
    nibble = config.builder is ResponseKind.NIBBLE
    end = end_of(graph, node)
    return PooledDirect(
        window=pooled_window(graph, node, lanes=1),
        out_channels=graph.shape(inputs.indices)[0],
        group=group,
        index_bits=config.index_bits,
        bits=None if config.runtime_bits else pooled_attrs(node).rounding.activation_bits,
        short=config.short,
        shift=end.shift,
        residual_shift=end.residual_shift,
        terms=layer_terms(graph, node),
        pool_size=size,
        builder=ResponseKind.NIBBLE if nibble else ResponseKind.BITSERIAL,
    )


def overlap(spec: PooledDirect) -> Distances:
    """The whole window of an output pixel is read before the pixel is written."""
    return with_ending(spec, by_pixel(spec.window, spec.out_channels * spec.out_bytes))


def arguments(
    graph: Graph, node: Node, spec: PooledDirect, pool: ConstantPool
) -> tuple[Params, ...]:
    """The look-up table, and the packed indices as [tap, vector, term, filter]."""
    inputs = pooled_inputs(node)
    names = inputs.pool, inputs.indices, inputs.b
    vectors, indices, bias = (graph.constants[name].array for name in names)
    table = response_table(WeightPool(vectors), spec.builder)
    tables = table, packed_indices(np.moveaxis(indices, 0, -1), spec.index_bits)
    start = _bias(spec, bias, graph, node)
    return pool_arguments(graph, node, pool, tables, start, short=spec.short)


def _bias(spec: PooledDirect, bias: Array, graph: Graph, node: Node) -> Array:
    if spec.bits is None:
        return stacked(bias, _sums(graph, node))
    folded = bias.astype(np.int64) + direct_fold(graph, node)
    if not spec.short:
        folded = folded - spec.looked_up
    return frozen((folded & 0xFFFFFFFF).astype(np.uint32).view(np.int32))


def direct_fold(graph: Graph, node: Node) -> Array:
    """Additions to the biases of a layer, apart from the offsets of the table's entries.

    It sums up ``t(x)`` modulo 2^32.  Returns int64 [O].
    """
    x_zero_point = graph.quant(pooled_inputs(node).x).tensor_zero_point
    bits = pooled_attrs(node).rounding.activation_bits
    return -int(round_codes(np.asarray(x_zero_point), bits)) * _sums(graph, node)


def _sums(graph: Graph, node: Node) -> Array:
    """Sums of the weights of each filter.

    Missing channels hold the zero point like any other: whole vectors count.
    """
    inputs = pooled_inputs(node)
    vectors, indices = (graph.constants[name].array for name in (inputs.pool, inputs.indices))
    return row_sums(vectors.astype(np.int64).sum(axis=1)[indices])


def parts(spec: PooledDirect, run: Run) -> Parts:
    """Look-ups for each filter."""
    vectors = spec.window.out_pixels * spec.window.taps * spec.vectors
    filters = spec.window.out_pixels * spec.look_ups * spec.out_channels
    rows = run.bits * spec.parts
    counts: dict[str, float] = {
        Event.DIRECT_VECTOR: vectors,
        Event.CODES: vectors * spec.group / 4,
        Event.PLANES: vectors * -(-spec.group // 8),
        Event.ROW: vectors * spec.planes * spec.parts,
        Event.DIRECT_FILTER: filters,
        Event.DIRECT_PART: filters * rows,
        Event.DIRECT_RELOAD: filters * spilled_rows(rows),
        Event.DIRECT_LOOP: filters * run.bits if spec.bits is None else 0,
        Event.OUTPUT: spec.out_elements,
        Event.RESIDUAL: 0 if spec.residual_shift is None else spec.out_elements,
    }
    table = spec.pool_size << min(spec.group, 8)
    return Parts(counts, table=TableReads(filters * run.bits, 1, table))


FAMILY = KernelFamily(
    spec_type=PooledDirect,
    operators=POOLED,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    planned=planned,
    runtime_bits=own_width,
    parts=parts,
    prices=TABLE,
    saves_flash=True,
)
