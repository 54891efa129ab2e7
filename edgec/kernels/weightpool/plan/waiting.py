"""Cycles that kernels for layers with a weight pool wait for constants in flash, estimated.

A table that fits the data cache is taken to be there; from one that does not, each place that
nothing foretells costs a read of a line of flash.
"""

from __future__ import annotations

from edgec.kernels.dsp.tile_3x2.spec import ROWS as ROWS_3X2
from edgec.kernels.dsp.tile_3x2.spec import Tile3x2
from edgec.kernels.dsp.tile_4x2.spec import ROWS as ROWS_4X2
from edgec.kernels.dsp.tile_4x2.spec import Tile4x2
from edgec.kernels.family import KernelSpec
from edgec.kernels.generic.conv2d.family import Conv2D
from edgec.kernels.generic.gemm.family import Gemm
from edgec.kernels.small.tile_3x4.spec import Tile3x4
from edgec.kernels.weightpool.decode.family import PooledDecode
from edgec.kernels.weightpool.decode_dsp.family import PooledDecodeDsp
from edgec.kernels.weightpool.direct.family import PooledDirect
from edgec.kernels.weightpool.gather.spec import PooledConv
from edgec.kernels.weightpool.plan.events_responses import BuiltPixels
from edgec.kernels.weightpool.plan.form import KernelForm
from edgec.kernels.weightpool.tables import ResponseKind, part_channels
from edgec.target.board import Board
from edgec.target.memory_map import Flash

_WORD_BYTES = 4
_COPY_CYCLES = 4
"""Cycles of a word that is copied from flash to scratch memory, without waiting."""


def waiting(spec: KernelSpec, bits: int, board: Board) -> float:
    """Cycles waited for pools, tables and indices in flash."""
    if board.memory is None:
        return 0.0
    flash = board.memory.flash
    match spec:
        case PooledConv():
            return _of_responses(spec, bits, board, flash)
        case PooledDirect():
            vectors = spec.window.out_pixels * spec.window.taps * spec.vectors
            table = spec.pool_size << min(spec.group, 8)
            return vectors * spec.out_channels * bits * _per_row(flash, 1, table)
        case PooledDecode() | PooledDecodeDsp():
            return spec.out_channels * spec.window.taps * spec.vectors * _per_row(flash, 1, 1 << 30)
        case Tile4x2():
            return _of_weights(spec.macs / ROWS_4X2, flash)
        case Tile3x2() | Tile3x4() | Conv2D() | Gemm():
            return _of_weights(spec.macs / ROWS_3X2, flash)
        case _:
            return 0.0


def _of_weights(weights: float, flash: Flash) -> float:
    """Cycles waited for weights, which are read again for every few pixels."""
    return weights * _per_word(flash, 1 << 30) / _WORD_BYTES


def _of_responses(spec: PooledConv, bits: int, board: Board, flash: Flash) -> float:
    size = _WORD_BYTES * spec.builder_words
    pixels = BuiltPixels.of(spec, KernelForm.of(board))
    if spec.tables_in_ram or spec.responses.packs:
        words = size / _WORD_BYTES
        return words * (_COPY_CYCLES + _per_word(flash, 1 << 30))
    if spec.builder is ResponseKind.MULTIPLY:
        return pixels.every * (size / _WORD_BYTES) * _per_word(flash, size)
    parts = spec.group / part_channels(spec.builder, spec.group)
    words = -(-spec.pool_size // _WORD_BYTES)
    return pixels.singles(spec.lanes) * bits * parts * _per_row(flash, words, size)


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
