"""Specification of the pooled convolution that gathers *responses* (`ir.qops.PoolRounding`).

The table.  Responses of two input rows r and r + D (D = `lane_rows`) are the two 16-bit lanes of
one word, ``low + 65536 * high`` modulo 2^32, so that plain additions sum up both lanes.  The table
holds them as words [chunk_groups, pool_size, ring_rows, pitch]: for one group and one vector some
*pair rows*, each a row of `pitch` columns, padding included as zeros.  Every filter then only adds
up runs of words, each found through one 16-bit entry of a list that the indices are turned into.

Columns lie by their remainder modulo the stride, so that what neighbouring output columns read is
adjacent.  A row's padding at the right may be the next row's padding at the left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.kernels.common.spec import describe_image, describe_window
from edgec.kernels.common.window import Window
from edgec.kernels.family import template_beside
from edgec.kernels.weightpool.decision import READY_INDEX_BITS
from edgec.kernels.weightpool.gather.columns import ColumnLoop, ColumnRun, column_runs, tap_columns
from edgec.kernels.weightpool.tables import ResponseBuilder, ResponseKind, table_words
from edgec.kernels.weightpool.unrolled import PackedIndex, unpacked

WORD_BYTES = 4

ENTRY_BYTES = 2

BYTE_BITS = 8

INDEX_BLOCK = 8
"""Packed indices that are unpacked together; they take whole bytes."""

BLOCKS = (8, 4)
"""Output columns gathered together."""

_WORD_RANGE = 2**32

_ENTRY_LIMIT = 2**16
"""Entries are byte offsets into the table."""

_STORED = 4

_UNROLLED = 6
"""Look-ups written out in the loop of the gathering, at most, unless one row of taps is longer."""


@dataclass(frozen=True, slots=True)
class TapRow:
    """A row of taps.

    Attributes:
        row_bytes: bytes from its base to its pair row.
        ends_base: the next row of taps has another base, or there is none.
    """

    row_bytes: int
    ends_base: bool


@dataclass(frozen=True, slots=True)
class PooledConv:
    """Pooled convolution: builds responses, then every filter gathers and adds.

    x int8 [height, width, channels], indices of [out_channels, kernel_h, kernel_w, groups] in the
    order of `pool_indices`, y int8 [out_height, out_width, out_channels].

    Attributes:
        window: geometry; that of a matrix product is any factorization of its rows.
        out_channels: filters.
        pool_size: vectors of the pool, S.
        group: weights of a vector, G.
        chunk_groups: groups of channels whose responses are in the table at a time.
        lanes: output rows that a word serves: 2, or 1 for sums of 32 bits.
        response_shift: k of `PoolRounding`; 0 if there is one lane or the sums fit 16 bits anyway.
        shift: right shift of the requantization.
        builder: how the responses are built.
        index_bits: bits of a stored index, see `PoolKernelConfig`.
        bits: width of activations; None: an argument of the kernel.
        saturates: outputs are clamped to the codes of int8 and no further.
        zero_is_code_min: the zero point of x is -128 (activations after a rectifier).
        keep_rows: the table holds all pair rows.
        tables_in_ram: the pool or its look-up table is copied to scratch memory first.
        residual_shift: right shift of the addition at the end; None: there is no addition.
    """

    family: ClassVar[str] = "pooled_conv"
    template: ClassVar[Path] = template_beside(__file__, "pooled_conv")
    window: Window
    out_channels: int
    pool_size: int
    group: int
    chunk_groups: int
    lanes: int
    response_shift: int
    shift: int
    builder: ResponseKind
    index_bits: int
    bits: int | None
    saturates: bool
    zero_is_code_min: bool
    keep_rows: bool = False
    tables_in_ram: bool = False
    residual_shift: int | None = None

    @property
    def runtime_bits(self) -> bool:
        """The width of activations is an argument of the kernel."""
        return self.bits is None

    # ---- Rows ----

    @property
    def out_pairs(self) -> int:
        """Output pair rows: pair row y stands for the output rows y and y + out_pairs."""
        return -(-self.window.out_height // self.lanes)

    @property
    def lane_rows(self) -> int:
        """Input rows between the two lanes, D."""
        return self.out_pairs * self.window.stride_h

    @property
    def reach_h(self) -> int:
        """Pair rows from a window's first tap to the one after its last."""
        return (self.window.kernel_h - 1) * self.window.dilation_h + 1

    @property
    def pair_rows(self) -> int:
        """Input pair rows that are read; the first is row -pad_top."""
        return (self.out_pairs - 1) * self.window.stride_h + self.reach_h

    @property
    def ring_rows(self) -> int:
        """Pair rows in the table; pair row r is at r modulo this."""
        return self.pair_rows if self.keep_rows else min(self.reach_h, self.pair_rows)

    @property
    def has_lone_rows(self) -> bool:
        """There are pair rows of which just one input row is inside the image."""
        first = -self.window.pad_top
        rows = range(first, first + self.pair_rows)
        height = self.window.height
        inside = (((0 <= row < height), (0 <= row + self.lane_rows < height)) for row in rows)
        return self.lanes == 2 and any(low != high for low, high in inside)

    @property
    def is_flat(self) -> bool:
        """Pair rows of a window follow each other, so that one base serves all taps."""
        return self.window.kernel_h == 1 or self.ring_rows == self.pair_rows

    @property
    def segments(self) -> int:
        """Runs of a filter's list with one base each: one per tap row unless `is_flat`."""
        return 1 if self.is_flat else self.window.kernel_h

    @property
    def rows_per_base(self) -> int:
        """Tap rows that share a base."""
        return self.window.kernel_h // self.segments

    @property
    def tap_row_bytes(self) -> tuple[int, ...]:
        """For each ky, the bytes from its base to its pair row."""
        row = self.pitch * WORD_BYTES * self.window.dilation_h
        return tuple(ky * row if self.is_flat else 0 for ky in range(self.window.kernel_h))

    @property
    def tap_rows(self) -> tuple[TapRow, ...]:
        """Each row of taps."""
        return tuple(
            TapRow(row_bytes, (ky + 1) % self.rows_per_base == 0)
            for ky, row_bytes in enumerate(self.tap_row_bytes)
        )

    @property
    def has_full_pairs(self) -> bool:
        """No output pair row stands for a single output row."""
        return self.window.out_height % 2 == 0

    # ---- Columns ----

    @property
    def column_runs(self) -> tuple[ColumnRun, ...]:
        """The columns of a row."""
        return column_runs(self.window)

    @property
    def tap_columns(self) -> tuple[int, ...]:
        """For each kx, the column of a row that output column 0 reads."""
        return tap_columns(self.window)

    @property
    def tap_column_bytes(self) -> tuple[int, ...]:
        """`tap_columns` in bytes."""
        return tuple(WORD_BYTES * column for column in self.tap_columns)

    @property
    def column_loops(self) -> tuple[ColumnLoop, ...]:
        """The loops of the builder over the columns of a row."""
        return tuple(ColumnLoop(run, self.responses.columns) for run in self.column_runs)

    @property
    def lone_column_loops(self) -> tuple[ColumnLoop, ...]:
        """Those of the builder of rows with one lane, if there is one."""
        step = self.responses.lone_columns
        return tuple(ColumnLoop(run, step) for run in self.column_runs) if step else ()

    @property
    def shared_columns(self) -> int:
        """Zeros at the end of a row that are those at the beginning of the next one."""
        if any(run.first == run.end for run in self.column_runs):
            return 0  # all padding
        first, last = self.column_runs[0], self.column_runs[-1]
        return min(first.first, last.count - last.end)

    @property
    def pitch(self) -> int:
        """Words from a row of the table to the next."""
        last = self.column_runs[-1]
        return last.start + last.count - self.shared_columns

    @property
    def zero_words(self) -> tuple[int, ...]:
        """Words of a row, from its start, that are padding; some may be the next row's."""
        return tuple(
            run.start + column
            for run in self.column_runs
            for column in range(run.count)
            if not run.first <= column < run.end
        )

    @property
    def table_rows(self) -> int:
        """Rows of the table."""
        return self.chunk_groups * self.pool_size * self.ring_rows

    @property
    def blocks(self) -> tuple[int, ...]:
        """Widths of the blocks that make up a row of output columns."""
        wide, rest = divmod(self.window.out_width, BLOCKS[0])
        tail = () if rest == 0 else (BLOCKS[1],) if rest <= BLOCKS[1] else (BLOCKS[0],)
        return (BLOCKS[0],) * wide + tail

    @property
    def block_widths(self) -> tuple[int, ...]:
        """The different widths of blocks, the larger first."""
        return tuple(dict.fromkeys(self.blocks))

    @property
    def wide_columns(self) -> int:
        """Output columns that are gathered in the wider blocks."""
        return sum(width for width in self.blocks if width == BLOCKS[0])

    @property
    def has_narrow_block(self) -> bool:
        """A row ends with the narrower block."""
        return BLOCKS[1] in self.blocks

    @property
    def padded_width(self) -> int:
        """Output columns that are gathered; those beyond the last are garbage."""
        return sum(self.blocks)

    @property
    def stored_columns(self) -> int:
        """Output columns that a turn of the loop of the outputs stores."""
        return math.gcd(self.window.out_width, _STORED)

    # ---- Groups ----

    @property
    def groups(self) -> int:
        """Groups of input channels."""
        return -(-self.window.channels // self.group)

    @property
    def chunks(self) -> int:
        """Passes over the image."""
        return -(-self.groups // self.chunk_groups)

    @property
    def is_chunked(self) -> bool:
        """There are several passes over the image."""
        return self.chunks > 1

    @property
    def chunk_channels(self) -> int:
        """Channels of a full chunk."""
        return self.chunk_groups * self.group

    @property
    def group_padding(self) -> int:
        """What is added to channels before a division by `group` that must round up."""
        return self.group - 1

    @property
    def last_groups(self) -> int:
        """Groups of the last chunk."""
        return self.groups - (self.chunks - 1) * self.chunk_groups

    @property
    def unroll(self) -> int:
        """Look-ups written out in the loop of the gathering; divides every segment."""
        w = self.window
        taps = w.taps if self.is_flat else w.kernel_w
        length = taps * math.gcd(self.chunk_groups, self.last_groups)
        return max(n for n in range(1, max(_UNROLLED, w.kernel_w) + 1) if length % n == 0)

    # ---- Memory ----

    @property
    def vector_bytes(self) -> int:
        """Bytes of the table for one group and one vector: what an index is multiplied with."""
        return self.ring_rows * self.pitch * WORD_BYTES

    @property
    def group_bytes(self) -> int:
        """Bytes of the table for one group."""
        return self.pool_size * self.vector_bytes

    @property
    def fits_entries(self) -> bool:
        """Every offset into the table fits 16 bits; a specification without it is illegal."""
        return self.chunk_groups * self.group_bytes <= _ENTRY_LIMIT

    @property
    def table_bytes(self) -> int:
        """The table, and what the last block reads after it."""
        beyond = self.shared_columns + self.padded_width - self.window.out_width
        return self.chunk_groups * self.group_bytes + beyond * WORD_BYTES

    @property
    def list_entries(self) -> int:
        """Entries of the list of a full chunk."""
        return self.out_channels * self.window.taps * self.chunk_groups

    @property
    def decodes(self) -> bool:
        """Indices are turned into a list in scratch memory; else they are stored as lists."""
        return self.index_bits != READY_INDEX_BITS

    @property
    def chunk_places(self) -> int:
        """Taps of all groups of a full chunk."""
        return self.window.taps * self.chunk_groups

    @property
    def packed_indices(self) -> tuple[PackedIndex, ...]:
        """A block of indices that are unpacked together; none if each is a byte."""
        return () if self.index_bits == BYTE_BITS else unpacked(self.index_bits)

    @property
    def index_mask(self) -> int:
        """The bits of an index."""
        return (1 << self.index_bits) - 1

    @property
    def list_bytes(self) -> int:
        """The list in scratch memory, and the entry that is read after its last one.

        Indices that are packed closer than bytes are unpacked in whole blocks.
        """
        entries = max(self.list_entries + 1, _whole_blocks(self.list_entries))
        return _words(ENTRY_BYTES * entries) if self.decodes else 0

    @property
    def chunk_index_bytes(self) -> int:
        """Stored indices of a full chunk, in whole blocks if they are packed."""
        return self.index_bytes(self.chunk_groups)

    def index_bytes(self, groups: int) -> int:
        """Bytes of the stored indices of a chunk of this many groups."""
        count = self.out_channels * self.window.taps * groups
        if self.index_bits in (BYTE_BITS, READY_INDEX_BITS):
            return count * self.index_bits // BYTE_BITS
        return _whole_blocks(count) * self.index_bits // BYTE_BITS

    @property
    def sum_rows(self) -> int:
        """Output pair rows whose sums are kept: all, if there are several chunks."""
        return self.out_pairs if self.chunks > 1 else 1

    @property
    def sums_bytes(self) -> int:
        """Sums as words [sum_rows, out_channels, padded_width]."""
        return self.sum_rows * self.out_channels * self.padded_width * WORD_BYTES

    @property
    def sum_words(self) -> int:
        """Words of the sums."""
        return self.sums_bytes // WORD_BYTES

    @property
    def list_start(self) -> int:
        """Place of the list in scratch memory, in bytes; the table comes first."""
        return self.table_bytes

    @property
    def sums_start(self) -> int:
        """Place of the sums in scratch memory, in bytes."""
        return self.list_start + self.list_bytes

    @property
    def responses(self) -> ResponseBuilder:
        """The function that builds the responses of a pair of pixels."""
        return ResponseBuilder(
            kind=self.builder,
            size=self.pool_size,
            group=self.group,
            shift=self.response_shift,
            bits=self.bits,
            lanes=self.lanes,
            row_words=self.vector_bytes // WORD_BYTES,
            zero_is_min=self.zero_is_code_min,
            row_columns=min(run.end - run.first for run in self.column_runs),
            has_lone_rows=self.has_lone_rows,
        )

    @property
    def packs(self) -> bool:
        """The builder reads the pool in another form, which is made in scratch memory."""
        return self.responses.packs

    @property
    def sum_start(self) -> int:
        """First value of a sum of words, so that it ends without their bias."""
        return -self.window.taps * self.groups * self.responses.word_bias % _WORD_RANGE

    @property
    def needs_sums(self) -> bool:
        """The builder reads the sums of the pool's vectors as well; they are after its table."""
        return self.builder is not ResponseKind.MULTIPLY and not self.zero_is_code_min

    @property
    def builder_words(self) -> int:
        """Words of the builder's table."""
        return table_words(self.builder, self.pool_size, self.group)

    @property
    def all_builder_words(self) -> int:
        """Words of the builder's table and of the sums after it."""
        sums = 2 * -(-self.pool_size // WORD_BYTES)
        return self.builder_words + (sums if self.needs_sums else 0)

    @property
    def copy_start(self) -> int:
        """Place of the copied pool or look-up table in scratch memory, in bytes."""
        return self.sums_start + self.sums_bytes

    @property
    def copy_bytes(self) -> int:
        """The copied pool or look-up table, or the pool as a builder that packs reads it."""
        if self.packs:
            return self.responses.packed_words * WORD_BYTES
        return self.all_builder_words * WORD_BYTES if self.tables_in_ram else 0

    @property
    def scratch_bytes(self) -> int:
        """Table, list, sums and copy."""
        return self.copy_start + self.copy_bytes

    # ---- Order of writing ----

    @property
    def writes_at_end(self) -> bool:
        """All of x has been read before the first element of y is written."""
        return self.chunks > 1 or self.out_pairs == 1

    # ---- For reports ----

    @property
    def look_ups(self) -> int:
        """Runs of words that one call adds up."""
        per_block = self.out_channels * self.window.taps * self.groups
        return self.out_pairs * len(self.blocks) * per_block

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.window.out_pixels * self.out_channels

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the convolution that one call stands for."""
        return self.out_elements * self.window.taps * self.window.channels

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        x = describe_image(w.height, w.width, w.channels)
        y = describe_image(w.out_height, w.out_width, self.out_channels)
        pool = f"pool [{self.pool_size}, {self.group}]"
        return f"Pooled convolution {x} to {y}, {describe_window(w)}, {pool}"


def _whole_blocks(count: int) -> int:
    return -(-count // INDEX_BLOCK) * INDEX_BLOCK


def _words(size: int) -> int:
    return -(-size // WORD_BYTES) * WORD_BYTES
