"""Estimated cycles of the kernels for pooled layers: what the planner compares.

A kernel's work is counted in units, how often each of its inner loops runs, from its specification
alone; a core has a price for every unit (`pool_prices`).  Waiting for tables in flash comes on top.
The prices are for code and constants that never make the core wait.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from edgec.kernels.common.dense_weights import FILTERS
from edgec.kernels.dsp.tile_3x2.spec import PIXELS, DenseDsp
from edgec.kernels.family import KernelSpec
from edgec.kernels.generic.conv2d.family import Conv2D
from edgec.kernels.generic.gemm.family import Gemm
from edgec.kernels.neon.tile_4x4.spec import DenseNeon
from edgec.kernels.neon.weights import LANES, ROWS
from edgec.kernels.small.tile_3x4.spec import DenseTriples
from edgec.kernels.weightpool.decode.family import PooledDecode
from edgec.kernels.weightpool.decode_dsp.family import PooledDecodeDsp
from edgec.kernels.weightpool.direct.family import PooledDirect
from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.weightpool.tables import ResponseKind, part_channels
from edgec.target.board import Board
from edgec.target.memory_map import Flash

_WEIGHTED = (
    PooledConv,
    PooledDecode,
    PooledDecodeDsp,
    PooledDirect,
    DenseDsp,
    DenseTriples,
    DenseNeon,
    Conv2D,
    Gemm,
)
_WORD_BYTES = 4
_COPY_CYCLES = 4
"""Of a word that is copied from flash to scratch memory, without waiting."""


class Unit(enum.Enum):
    """A piece of a kernel's work.

    Responses: PIXEL, a pixel or pair of pixels of one group made ready; MULTIPLY, the products of
    one vector with such a pair; PACKED, the same where cores with DSP do two columns at a time;
    LONE, with one pixel of a pair whose other one is padding; PRODUCT, with one pixel, in plain
    C: one lane, or vectors that are not of 8; PLANES, bit planes of one pixel and group;
    BITSERIAL_WORD and NIBBLE_WORD, four vectors of one plane of one pixel looked up and added;
    LUT_WORD, the rest of that work per four vectors, and FREE_WORD in addition where the width is
    an argument; ENTRY, an index turned into an offset; GATHER_8 and GATHER_4, the words of one
    look-up added up; RUN_8 and RUN_4, start and end of such sums; SUM, a partial sum kept for the
    next chunk; LANE, an output of two in a word; WORD, an output of one; TURN, a turn of the loop
    that stores them.
    Others: EXPAND, a weight of an expanded vector; PATCH, an activation copied for a filter's
    window; ROUND, one rounded to fewer bits; MAC; ROW_MAC, of windows that lie in one piece;
    GEMM_MAC, without decoding; DSP_MAC, of the kernels that take three pixels at a time, with the
    DSP extension or without; WIDEN, an activation made ready for them, WIDEN_ROUND, one that is
    rounded as well; NEON_MAC and NEON_PACK, the same of the kernel for cores with NEON; OUTPUT;
    RESIDUAL and LANE_RESIDUAL, the addition at the end of one, the latter with responses;
    DIRECT_PLANES, bit planes of a vector's activations; DIRECT_VECTOR, one vector of one filter;
    DIRECT, one plane of it; DIRECT_PART, one look-up for that; DIRECT_TAP, one tap of one filter.
    """

    PIXEL = "pixel"
    MULTIPLY = "multiply"
    PACKED = "packed"
    LONE = "lone"
    PRODUCT = "product"
    PLANES = "planes"
    BITSERIAL_WORD = "bitserial word"
    NIBBLE_WORD = "nibble word"
    FREE_WORD = "free word"
    LUT_WORD = "table word"
    ENTRY = "entry"
    GATHER_8 = "gather 8"
    GATHER_4 = "gather 4"
    RUN_8 = "run 8"
    RUN_4 = "run 4"
    SUM = "sum"
    LANE = "lane"
    WORD = "word"
    TURN = "turn"
    EXPAND = "expand"
    PATCH = "patch"
    ROUND = "round"
    MAC = "mac"
    ROW_MAC = "row mac"
    GEMM_MAC = "gemm mac"
    DSP_MAC = "dsp mac"
    WIDEN = "widen"
    WIDEN_ROUND = "widen round"
    NEON_MAC = "neon mac"
    NEON_PACK = "neon pack"
    OUTPUT = "output"
    RESIDUAL = "residual"
    LANE_RESIDUAL = "lane residual"
    DIRECT_PLANES = "direct planes"
    DIRECT_VECTOR = "direct vector"
    DIRECT = "direct"
    DIRECT_PART = "direct part"
    DIRECT_TAP = "direct tap"


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
        kind = Unit.LANE_RESIDUAL if isinstance(spec, PooledConv) else Unit.RESIDUAL
        work[kind] = spec.out_elements
    return work


def _without_residual(spec: KernelSpec, bits: int) -> Work:
    match spec:
        case PooledConv():
            return _of_responses(spec, bits)
        case PooledDecode():
            return _of_decode(spec)
        case PooledDecodeDsp():
            return _of_decode_dsp(spec)
        case PooledDirect():
            return _of_direct(spec, bits)
        case DenseDsp() | DenseTriples():
            return _of_dense_dsp(spec)
        case DenseNeon():
            return _of_dense_neon(spec)
        case Conv2D():
            windows = spec.window.out_pixels * spec.scratch_bytes
            return {Unit.MAC: spec.macs, Unit.PATCH: windows, Unit.OUTPUT: spec.out_elements}
        case Gemm():
            return {Unit.GEMM_MAC: spec.macs, Unit.OUTPUT: spec.out_elements}
        case _:
            return {}


@dataclass(frozen=True, slots=True)
class _Pixels:
    """Pixels, or pairs of them, whose responses one call builds, times groups of channels.

    Attributes:
        pairs: those with something in every lane, or for which the kernel takes no short way.
        lone: those with something in at most one of two lanes.
    """

    pairs: int
    lone: int

    @classmethod
    def of(cls, spec: PooledConv) -> _Pixels:
        """Of a kernel."""
        window = spec.window
        tops = [pair * window.stride_h - window.pad_top for pair in range(spec.out_pairs)]
        rows = {row for top in tops for row in range(top, top + spec.reach_h)}
        whole = [row for row in rows if row >= 0 and row + spec.lane_rows < window.height]
        short = len(rows) - len(whole) if spec.responses.lone_columns else 0
        counts = [max(run.end - run.first, 0) for run in spec.column_runs]
        step = spec.responses.columns
        columns = sum(-(-count // step) * step for count in counts)
        return cls((len(rows) - short) * columns * spec.groups, short * sum(counts) * spec.groups)

    @property
    def every(self) -> int:
        """All of them."""
        return self.pairs + self.lone

    def lanes(self, spec: PooledConv) -> int:
        """Single pixels."""
        return self.pairs * spec.lanes + self.lone


def _of_responses(spec: PooledConv, bits: int) -> Work:
    pixels = _Pixels.of(spec)
    work = {Unit.PIXEL: float(pixels.every), **_of_sums(spec)}
    if spec.decodes:
        work[Unit.ENTRY] = spec.out_channels * spec.window.taps * spec.groups
    eights = max(1.0, spec.group / 8)
    if spec.builder is ResponseKind.MULTIPLY:
        if not spec.responses.has_product_loop:
            return work | {Unit.PRODUCT: pixels.lanes(spec) * spec.pool_size * eights}
        kind = Unit.PACKED if spec.responses.packs else Unit.MULTIPLY
        work[kind] = pixels.pairs * spec.pool_size
        work[Unit.LONE] = pixels.lone * spec.pool_size
        return work
    words = -(-spec.pool_size // _WORD_BYTES)
    singles = pixels.lanes(spec)
    bitserial = spec.builder is ResponseKind.BITSERIAL
    plane_word = Unit.BITSERIAL_WORD if bitserial else Unit.NIBBLE_WORD
    work[Unit.PLANES] = singles * eights
    work[plane_word] = singles * bits * words * eights
    if spec.bits is None:
        work[Unit.FREE_WORD] = singles * words
    work[Unit.LUT_WORD] = singles / spec.lanes * words
    return work


def _of_sums(spec: PooledConv) -> dict[Unit, float]:
    """Gathering and storing."""
    runs = spec.out_channels * spec.out_pairs * spec.chunks
    wide = spec.blocks.count(8)
    narrow = len(spec.blocks) - wide
    per_run = spec.window.taps * spec.groups / spec.chunks
    work: dict[Unit, float] = {
        Unit.GATHER_8: runs * wide * per_run,
        Unit.GATHER_4: runs * narrow * per_run,
        Unit.RUN_8: runs * wide,
        Unit.RUN_4: runs * narrow,
        Unit.LANE if spec.lanes == 2 else Unit.WORD: spec.out_elements,
        Unit.TURN: spec.out_elements / spec.lanes / spec.stored_columns,
    }
    if spec.chunks > 1:
        kept = spec.out_channels * spec.out_pairs * spec.padded_width
        work[Unit.SUM] = kept * (spec.chunks - 1)
    return work


def _of_decode(spec: PooledDecode) -> Work:
    batches = -(-spec.out_channels // spec.batch)
    windows = spec.window.out_pixels * spec.depth * batches
    return {
        Unit.EXPAND: spec.out_channels * spec.depth,
        Unit.PATCH: windows if spec.needs_patch else 0,
        Unit.ROUND: windows if spec.rounds else 0,
        Unit.ROW_MAC if spec.reads_rows else Unit.MAC: spec.macs,
        Unit.OUTPUT: spec.out_elements,
    }


def _of_dense_dsp(spec: DenseDsp | DenseTriples) -> dict[Unit, float]:
    """Pixels and filters behind the last ones are computed, too."""
    pixels = -(-spec.window.out_pixels // PIXELS) * PIXELS
    together = spec.filters if isinstance(spec, DenseTriples) else FILTERS
    filters = -(-spec.out_channels // together) * together
    return {
        Unit.DSP_MAC: pixels * filters * spec.depth,
        Unit.WIDEN: pixels * spec.depth,
        Unit.OUTPUT: spec.out_elements,
    }


def _of_dense_neon(spec: DenseNeon) -> Work:
    """Pixels and filters behind the last four are computed, too, except for a lone pixel."""
    depth = spec.blocks * LANES
    pixels = spec.rows if spec.rows == 1 else -(-spec.rows // ROWS) * ROWS
    return {
        Unit.NEON_MAC: pixels * -(-spec.out_channels // ROWS) * ROWS * depth,
        Unit.NEON_PACK: pixels * depth,
        Unit.OUTPUT: spec.out_elements,
    }


def _of_decode_dsp(spec: PooledDecodeDsp) -> Work:
    work = _of_dense_dsp(spec.dense)
    work[Unit.WIDEN] *= -(-spec.out_channels // spec.batch)
    work[Unit.WIDEN_ROUND] = work[Unit.WIDEN] if spec.rounds else 0
    return work | {Unit.EXPAND: spec.out_channels * spec.dense.depth}


def _of_direct(spec: PooledDirect, bits: int) -> Work:
    vectors = spec.window.out_pixels * spec.window.taps * spec.vectors
    return {
        Unit.DIRECT_PLANES: vectors,
        Unit.DIRECT_VECTOR: vectors * spec.out_channels,
        Unit.DIRECT: vectors * spec.out_channels * bits,
        Unit.DIRECT_TAP: spec.window.out_pixels * spec.window.taps * spec.out_channels,
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
        case PooledDecode() | PooledDecodeDsp():
            return spec.out_channels * spec.window.taps * spec.vectors * _per_row(flash, 1, 1 << 30)
        case DenseDsp() | DenseTriples() | Conv2D() | Gemm():
            # Weights are read again for every few pixels.
            weights = spec.macs / spec.out_elements * (spec.out_elements / 3)
            return weights * _per_word(flash, 1 << 30) / _WORD_BYTES
        case _:
            return 0.0


def _waiting_of_responses(spec: PooledConv, bits: int, flash: Flash) -> float:
    size = _WORD_BYTES * spec.builder_words
    pixels = _Pixels.of(spec)
    if spec.tables_in_ram or spec.responses.packs:
        words = size / _WORD_BYTES
        return words * (_COPY_CYCLES + _per_word(flash, 1 << 30))
    if spec.builder is ResponseKind.MULTIPLY:
        return pixels.every * (size / _WORD_BYTES) * _per_word(flash, size)
    parts = spec.group / part_channels(spec.builder, spec.group)
    words = -(-spec.pool_size // _WORD_BYTES)
    return pixels.lanes(spec) * bits * parts * _per_row(flash, words, size)


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
