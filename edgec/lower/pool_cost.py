"""Estimated cycles of the kernels for pooled layers: what the planner compares.

A kernel's work is counted in units, how often each of its inner loops runs, from its specification
alone; a core has a price for every unit (`pool_prices`).  Waiting for tables in flash comes on top.
The prices are for code and constants that never make the core wait.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

from edgec.board import Board, Flash
from edgec.lower.pool_tables import ResponseKind, part_channels
from edgec.lower.spec import KernelSpec
from edgec.lower.spec_dense_dsp import DenseDsp
from edgec.lower.spec_pooled import PooledConv
from edgec.lower.spec_pooled_dense import PooledDecode, PooledDirect
from edgec.lower.spec_weighted import Conv2D, Gemm

_WEIGHTED = (PooledConv, PooledDecode, PooledDirect, DenseDsp, Conv2D, Gemm)
_WORD_BYTES = 4
_COPY_CYCLES = 4
"""Of a word that is copied from flash to scratch memory, without waiting."""


class Unit(enum.Enum):
    """A piece of a kernel's work.

    Responses: PIXEL, a pixel or pair of pixels of one group made ready; MULTIPLY, the products of
    one vector; PLANES, bit planes of one pixel and group; BITSERIAL_WORD and NIBBLE_WORD, four
    vectors of one plane of one pixel looked up and added; LUT_WORD, the rest of that work per four
    vectors; ENTRY, an index
    turned into an offset; GATHER_8 and GATHER_4, the words of one look-up added up; RUN_8 and
    RUN_4, start and end of such sums; SUM, a partial sum kept for the next chunk; LANE, an output
    of two in a word; WORD, an output of one.
    Others: EXPAND, a weight of an expanded vector; PATCH, an activation copied for a filter's
    window; MAC; DSP_MAC, of the kernel for cores with DSP; WIDEN, an activation made ready for it;
    OUTPUT; RESIDUAL, the addition at the end of one (all families); DIRECT_PLANES, bit planes of a
    vector's activations; DIRECT_VECTOR, one vector of one filter; DIRECT, one plane of it;
    DIRECT_PART, one look-up for that.
    """

    PIXEL = "pixel"
    MULTIPLY = "multiply"
    PLANES = "planes"
    BITSERIAL_WORD = "bitserial word"
    NIBBLE_WORD = "nibble word"
    LUT_WORD = "table word"
    ENTRY = "entry"
    GATHER_8 = "gather 8"
    GATHER_4 = "gather 4"
    RUN_8 = "run 8"
    RUN_4 = "run 4"
    SUM = "sum"
    LANE = "lane"
    WORD = "word"
    EXPAND = "expand"
    PATCH = "patch"
    MAC = "mac"
    DSP_MAC = "dsp mac"
    WIDEN = "widen"
    OUTPUT = "output"
    RESIDUAL = "residual"
    DIRECT_PLANES = "direct planes"
    DIRECT_VECTOR = "direct vector"
    DIRECT = "direct"
    DIRECT_PART = "direct part"


Work = Mapping[Unit, float]
"""How often each unit is done in one call."""


def estimate(spec: KernelSpec, bits: int, prices: Mapping[Unit, float], board: Board) -> float:
    """Cycles of one call.

    Args:
        spec: of a convolution or matrix product, pooled or plain.
        bits: activation width, 1 to 8.
        prices: of `pool_prices.prices_of`.
        board: whose flash the constants are in.
    """
    ideal = sum(count * prices[unit] for unit, count in work_of(spec, bits).items())
    return ideal + _waiting(spec, bits, board)


def work_of(spec: KernelSpec, bits: int) -> Work:
    """Units of one call of a kernel; none for kernels without weights."""
    work = dict(_without_residual(spec, bits))
    if isinstance(spec, _WEIGHTED) and spec.residual_shift is not None:
        work[Unit.RESIDUAL] = spec.out_elements
    return work


def _without_residual(spec: KernelSpec, bits: int) -> Work:
    match spec:
        case PooledConv():
            return _of_responses(spec, bits)
        case PooledDecode():
            return _of_decode(spec)
        case PooledDirect():
            return _of_direct(spec, bits)
        case DenseDsp():
            windows = spec.window.out_pixels * spec.depth
            return {Unit.DSP_MAC: spec.macs, Unit.WIDEN: windows, Unit.OUTPUT: spec.out_elements}
        case Conv2D():
            windows = spec.window.out_pixels * spec.scratch_bytes
            return {Unit.MAC: spec.macs, Unit.PATCH: windows, Unit.OUTPUT: spec.out_elements}
        case Gemm():
            return {Unit.MAC: spec.macs, Unit.OUTPUT: spec.out_elements}
        case _:
            return {}


def built_pixels(spec: PooledConv) -> int:
    """Pixels, or pairs of them, whose responses one call builds, for each group of channels."""
    columns = sum(max(run.end - run.first, 0) for run in spec.column_runs)
    return spec.pair_rows * columns


def _of_responses(spec: PooledConv, bits: int) -> Work:
    pixels = built_pixels(spec) * spec.groups
    runs = spec.out_channels * spec.out_pairs * spec.chunks
    wide = spec.blocks.count(8)
    narrow = len(spec.blocks) - wide
    per_run = spec.window.taps * spec.groups / spec.chunks
    outputs = Unit.LANE if spec.lanes == 2 else Unit.WORD
    work: dict[Unit, float] = {
        Unit.PIXEL: pixels,
        Unit.GATHER_8: runs * wide * per_run,
        Unit.GATHER_4: runs * narrow * per_run,
        Unit.RUN_8: runs * wide,
        Unit.RUN_4: runs * narrow,
        outputs: spec.out_elements,
    }
    if spec.chunks > 1:
        kept = spec.out_channels * spec.out_pairs * spec.padded_width
        work[Unit.SUM] = kept * (spec.chunks - 1)
    if spec.decodes:
        work[Unit.ENTRY] = spec.out_channels * spec.window.taps * spec.groups
    if spec.builder is ResponseKind.MULTIPLY:
        work[Unit.MULTIPLY] = pixels * spec.pool_size * (spec.group / 8)
        return work
    eights = max(1.0, spec.group / 8)
    words = -(-spec.pool_size // _WORD_BYTES)
    work[Unit.PLANES] = pixels * spec.lanes * eights
    bitserial = spec.builder is ResponseKind.BITSERIAL
    plane_word = Unit.BITSERIAL_WORD if bitserial else Unit.NIBBLE_WORD
    work[plane_word] = pixels * spec.lanes * bits * words * eights
    work[Unit.LUT_WORD] = pixels * words
    return work


def _of_decode(spec: PooledDecode) -> Work:
    batches = -(-spec.out_channels // spec.batch)
    patches = spec.window.out_pixels * spec.depth * batches if spec.needs_patch else 0
    return {
        Unit.EXPAND: spec.out_channels * spec.depth,
        Unit.PATCH: patches,
        Unit.MAC: spec.macs,
        Unit.OUTPUT: spec.out_elements,
    }


def _of_direct(spec: PooledDirect, bits: int) -> Work:
    vectors = spec.window.out_pixels * spec.window.taps * spec.vectors
    return {
        Unit.DIRECT_PLANES: vectors,
        Unit.DIRECT_VECTOR: vectors * spec.out_channels,
        Unit.DIRECT: vectors * spec.out_channels * bits,
        Unit.DIRECT_PART: vectors * spec.out_channels * bits * spec.parts,
        Unit.OUTPUT: spec.out_elements,
    }


def _waiting(spec: KernelSpec, bits: int, board: Board) -> float:
    """Cycles waited for pools, tables and indices in flash."""
    if board.memory is None:
        return 0.0
    flash = board.memory.flash
    match spec:
        case PooledConv():
            return _waiting_of_responses(spec, bits, flash)
        case PooledDirect():
            vectors = spec.window.out_pixels * spec.window.taps * spec.vectors
            table = spec.pool_size << min(spec.group, 8)
            return vectors * spec.out_channels * bits * _per_row(flash, 1, table)
        case PooledDecode():
            return spec.out_channels * spec.window.taps * spec.vectors * _per_row(flash, 1, 1 << 30)
        case DenseDsp() | Conv2D() | Gemm():
            # Weights are read again for every few pixels.
            weights = spec.macs / spec.out_elements * (spec.out_elements / 3)
            return weights * _per_word(flash, 1 << 30) / _WORD_BYTES
        case _:
            return 0.0


def _waiting_of_responses(spec: PooledConv, bits: int, flash: Flash) -> float:
    size = _WORD_BYTES * spec.builder_words
    pixels = built_pixels(spec) * spec.groups
    if spec.tables_in_ram:
        words = size / _WORD_BYTES
        return words * (_COPY_CYCLES + _per_word(flash, 1 << 30))
    if spec.builder is ResponseKind.MULTIPLY:
        return pixels * (size / _WORD_BYTES) * _per_word(flash, size)
    parts = spec.group / part_channels(spec.builder, spec.group)
    words = -(-spec.pool_size // _WORD_BYTES)
    return pixels * spec.lanes * bits * parts * _per_row(flash, words, size)


def _per_word(flash: Flash, table_bytes: int) -> float:
    """Waiting for a word of a table that is read from its start to its end."""
    if table_bytes <= flash.data_cache_bytes or not flash.line_bytes:
        return 0.0
    return flash.wait_states * min(1.0, _WORD_BYTES / flash.line_bytes)


def _per_row(flash: Flash, words: int, table_bytes: int) -> float:
    """Waiting for `words` words at a place of a table that nothing foretells."""
    if table_bytes <= flash.data_cache_bytes:
        return 0.0
    lines = max(1.0, words * _WORD_BYTES / flash.line_bytes) if flash.line_bytes else 1.0
    return flash.wait_states * lines
