"""Candidates for a pooled layer: every kernel with its settings, estimated."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

from edgec.base.errors import InternalError, LoweringError
from edgec.base.options import PoolKernel, PoolKernelOptions
from edgec.ir.graph import Graph, Node
from edgec.ir.weight_pool_graph import with_plain_weights
from edgec.ir.weighted import plain_inputs, pooled_attrs, pooled_inputs
from edgec.kernels.choice.estimate import Estimator
from edgec.kernels.common.dense import FILTERS
from edgec.kernels.family import KernelSpec
from edgec.kernels.registry import family_of
from edgec.kernels.select import kernel_candidates
from edgec.kernels.weightpool.bounds import least_response_shift
from edgec.kernels.weightpool.decision import READY_INDEX_BITS, PoolFamily, PoolKernelConfig
from edgec.kernels.weightpool.decode import pooled_decode
from edgec.kernels.weightpool.decode_dsp import pooled_decode_dsp
from edgec.kernels.weightpool.decoded import serves_dsp
from edgec.kernels.weightpool.direct import pooled_direct
from edgec.kernels.weightpool.gather.family import pooled_conv
from edgec.kernels.weightpool.gather.indices import index_bytes
from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.weightpool.neon import pooled_conv_neon
from edgec.kernels.weightpool.neon.spec import vectors_of
from edgec.kernels.weightpool.plain import BLOCK
from edgec.kernels.weightpool.plan.rounding import rounds_too_much
from edgec.kernels.weightpool.plan.short import takes_short
from edgec.kernels.weightpool.tables import ResponseKind
from edgec.target.board import Board
from edgec.target.target import Target

_BATCHES = (1, 2, 3, 4, 6, 8, 12, 16)
"""Numbers of batches of filters to decode a layer in; more are for little memory."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way to compute a layer.

    Attributes:
        kernel: what the user would call it.
        config: decision for a pooled kernel; None: a plain kernel with expanded weights.
        spec: specification of the kernel.
        response_shift: k that it needs.
        cycles: estimated.
        flash_bytes: weights or indices, without what layers share.
        table: the look-up table that it reads in flash and shares with other layers of its pool:
            its builder; None: none.
    """

    kernel: PoolKernel
    config: PoolKernelConfig | None
    spec: KernelSpec
    response_shift: int
    cycles: float
    flash_bytes: int
    table: ResponseKind | None

    @property
    def scratch_bytes(self) -> int:
        """SRAM of a call."""
        return self.spec.scratch_bytes


@dataclass(frozen=True, slots=True)
class Setting:
    """Settings common to all layers.

    Attributes:
        board: the target.
        estimator: prices kernels on the board.
        table_bytes: most SRAM of a response table and its sums; None: no limit.
        runtime_bits: the width of activations is an argument.
    """

    board: Board
    estimator: Estimator
    table_bytes: int | None
    runtime_bits: bool

    @classmethod
    def of(cls, board: Board, options: PoolKernelOptions) -> Setting:
        """For a board and what the user asked for."""
        return cls(board, Estimator.of(Target.of(board)), options.table_bytes, options.runtime_bits)

    @property
    def has_neon(self) -> bool:
        """The core has NEON."""
        return Target.of(self.board).has_neon

    def cycles(self, spec: KernelSpec, bits: int) -> float:
        """Estimated cycles of a call; executed instructions on a Cortex-A.

        Raises:
            InternalError: nobody counts it: the kernel must not look as if it took no time.
        """
        found = self.estimator.cycles(family_of(spec), spec, bits)
        if found is None:
            raise InternalError(f"nothing counts what a kernel {spec.family!r} does")
        return found


def candidates(
    graph: Graph, node: Node, setting: Setting, only: PoolKernel | None
) -> tuple[Candidate, ...]:
    """Ways to compute a pooled node, in no order.

    Args:
        graph: INTEGER stage, with `activation_bits` set and responses unscaled.
        node: pooled.
        setting: what is the same for all layers.
        only: the kernel that the user asked for; None: any.
    """
    found: list[Candidate] = []
    for kernel in PoolKernel if only is None else (only,):
        match kernel:
            case PoolKernel.RESPONSES:
                found += _responses(graph, node, setting)
                if setting.has_neon:
                    found += _responses_neon(graph, node, setting)
            case PoolKernel.DECODE:
                found += _decodes(graph, node, setting)
            case PoolKernel.DIRECT:
                found += _directs(graph, node, setting)
            case PoolKernel.EXPAND:
                found += _expanded(graph, node, setting)
    return tuple(found)


def _bits(node: Node) -> int:
    bits: int = pooled_attrs(node).rounding.activation_bits
    return bits


def _packed_bytes(graph: Graph, node: Node) -> int:
    count = graph.constants[pooled_inputs(node).indices].array.size
    return -(-count * _index_bits(graph, node) // 8)


def _index_bits(graph: Graph, node: Node) -> int:
    """Bits of a packed index."""
    return max(1, (graph.shape(pooled_inputs(node).pool)[0] - 1).bit_length())


# ---- Responses ----


def _responses(graph: Graph, node: Node, setting: Setting) -> Iterator[Candidate]:
    for lanes in (2, 1):
        shift = two_lane_shift(graph, node) if lanes == 2 else 0
        if shift is None or rounds_too_much(graph, node, shift):
            continue
        attrs = pooled_attrs(node)
        shifted = replace(attrs, rounding=replace(attrs.rounding, response_shift=shift))
        base = _base_of(graph, replace(node, attrs=shifted), setting, lanes)
        if base is None:
            continue
        for spec in _variants(base[1], setting.board):
            if not spec.fits_entries or _too_large(spec, setting):
                continue
            config = replace(
                base[0],
                chunk_groups=spec.chunk_groups,
                builder=spec.builder,
                index_bits=spec.index_bits,
                keep_rows=spec.keep_rows,
                tables_in_ram=spec.tables_in_ram,
            )
            cycles = setting.cycles(spec, _bits(node))
            table = None if spec.builder is ResponseKind.MULTIPLY else spec.builder
            size = index_bytes(spec)
            yield Candidate(PoolKernel.RESPONSES, config, spec, shift, cycles, size, table)


def _too_large(spec: KernelSpec, setting: Setting) -> bool:
    return setting.table_bytes is not None and spec.scratch_bytes > setting.table_bytes


def _base_of(
    graph: Graph, node: Node, setting: Setting, lanes: int
) -> tuple[PoolKernelConfig, PooledConv] | None:
    """The smallest table's configuration and specification; None where not even that is legal."""
    config = PoolKernelConfig(
        PoolFamily.RESPONSES,
        chunk_groups=1,
        lanes=lanes,
        index_bits=_index_bits(graph, node),
        runtime_bits=setting.runtime_bits,
    )
    shift = pooled_attrs(node).rounding.response_shift
    config = replace(config, short=takes_short(graph, node, config, shift))
    try:
        return config, pooled_conv(graph, node, config)
    except LoweringError:
        return None


def _variants(base: PooledConv, board: Board) -> Iterator[PooledConv]:
    """Every chunk, builder and placement of tables."""
    waits = board.memory is not None and board.memory.flash.wait_states > 0
    for chunk in _chunk_sizes(base.groups):
        for keep_rows in (False, True):
            for index_bits in (base.index_bits, READY_INDEX_BITS):
                for builder in ResponseKind:
                    spec = replace(
                        base,
                        chunk_groups=chunk,
                        keep_rows=keep_rows,
                        index_bits=index_bits,
                        builder=builder,
                    )
                    yield spec
                    if waits and not spec.responses.packs:
                        yield replace(spec, tables_in_ram=True)


def _chunk_sizes(groups: int) -> list[int]:
    """The least chunk for each number of chunks."""
    return sorted({-(-groups // chunks) for chunks in range(1, groups + 1)})


def two_lane_shift(graph: Graph, node: Node) -> int | None:
    """The least response shift of two lanes; None where none is enough."""
    inputs = pooled_inputs(node)
    pool, indices = (graph.constants[name].array for name in (inputs.pool, inputs.indices))
    channels = graph.shape(inputs.x)[-1]
    zero_point = graph.quant(inputs.x).tensor_zero_point
    try:
        return least_response_shift(pool, indices, zero_point, _bits(node), channels)
    except LoweringError:
        return None


def _responses_neon(graph: Graph, node: Node, setting: Setting) -> Iterator[Candidate]:
    """Exact responses, with every number of rows and of groups of channels at a time."""
    config = PoolKernelConfig(
        PoolFamily.RESPONSES_NEON,
        lanes=1,
        index_bits=_index_bits(graph, node),
        runtime_bits=setting.runtime_bits,
        band=1,
        vectors=vectors_of(Target.of(setting.board)),
    )
    config = replace(config, short=takes_short(graph, node, config))
    try:
        base = pooled_conv_neon(graph, node, config)
    except LoweringError:
        return
    rows = range(1, base.window.out_height + 1)
    for chunk, band in itertools.product(_chunk_sizes(base.groups), rows):
        if base.window.out_height % band:
            continue
        spec = replace(base, chunk_groups=chunk, band=band)
        if not spec.fits_entries or _too_large(spec, setting):
            continue
        own = replace(config, chunk_groups=chunk, band=band)
        cycles = setting.cycles(spec, _bits(node))
        yield Candidate(PoolKernel.RESPONSES, own, spec, 0, cycles, index_bytes(spec), None)


# ---- The others ----


def _decodes(graph: Graph, node: Node, setting: Setting) -> Iterator[Candidate]:
    """The plain kernel with little memory serves always; others keep to the limit of tables."""
    plain = PoolKernelConfig(
        PoolFamily.DECODE,
        index_bits=_index_bits(graph, node),
        runtime_bits=setting.runtime_bits,
    )
    plain = replace(plain, short=takes_short(graph, node, plain))
    size = _packed_bytes(graph, node)
    filters = graph.shape(pooled_inputs(node).indices)[0]
    has_dsp = setting.board.dsp and serves_dsp(graph, node)
    known: set[KernelSpec] = set()
    for dsp in (False, True) if has_dsp else (False,):
        for batch in (None, *_batches(filters, FILTERS if dsp else BLOCK)):
            config = replace(plain, dsp=dsp, batch=batch)
            spec = (pooled_decode_dsp if dsp else pooled_decode)(graph, node, config)
            if spec in known or (config != plain and _too_large(spec, setting)):
                continue
            known.add(spec)
            cycles = setting.cycles(spec, _bits(node))
            yield Candidate(PoolKernel.DECODE, config, spec, 0, cycles, size, None)


def _batches(filters: int, block: int) -> list[int]:
    """Filters expanded at a time, a multiple of `block`, for some numbers of batches."""
    return [-(-filters // (number * block)) * block for number in _BATCHES]


def _directs(graph: Graph, node: Node, setting: Setting) -> Iterator[Candidate]:
    for builder in (ResponseKind.BITSERIAL, ResponseKind.NIBBLE):
        config = PoolKernelConfig(
            PoolFamily.DIRECT,
            builder=builder,
            index_bits=_index_bits(graph, node),
            runtime_bits=setting.runtime_bits,
        )
        config = replace(config, short=takes_short(graph, node, config))
        spec = pooled_direct(graph, node, config)
        cycles = setting.cycles(spec, _bits(node))
        size = _packed_bytes(graph, node)
        yield Candidate(PoolKernel.DIRECT, config, spec, 0, cycles, size, builder)


def _expanded(graph: Graph, node: Node, setting: Setting) -> Iterator[Candidate]:
    """Only where it computes the same: at the full width of activations."""
    if _bits(node) < 8 or setting.runtime_bits:
        return
    plain = with_plain_weights(graph, {node.name})
    plain_node = next(other for other in plain.nodes if other.name == node.name)
    ways = kernel_candidates(plain, plain_node, Target.of(setting.board))
    known = (setting.estimator.cycles(way.family, way.spec) for way in ways)
    # The kernel that is chosen comes first; where nobody has counted it, it is worth the others.
    cycles = next(each for each in known if each is not None)
    weights = plain.constants[plain_inputs(plain_node).w]
    size = weights.array.nbytes
    yield Candidate(PoolKernel.EXPAND, None, ways[0].spec, 0, cycles, size, None)
