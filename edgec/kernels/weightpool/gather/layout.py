"""Layout of the table of responses: its rows, and the columns of an image in a row.

Layout of an image's rows in the table of responses: as pair rows, one for each lane.

Pair row r holds the input rows r and r + D, which the two lanes of a word serve.

Layout of an image's columns in a row of the table of responses.

Columns that neighbouring outputs read must be adjacent words.  Those are `stride_w` columns apart
in the image, so a row holds the columns by their remainder modulo the stride, padding included.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from edgec.kernels.common.window import Window

WORD_BYTES = 4

BLOCKS = (8, 4)
"""Output columns gathered together."""

_STORED = 4
"""Output columns that a turn of the loop of the outputs stores, at most."""


@dataclass(frozen=True, slots=True)
class ColumnRun:
    """Columns of the table that lie side by side: every `stride_w`-th column of the image.

    Attributes:
        start: first column in a row of the table.
        image_start: column of the image that it holds; negative in the padding.
        count: columns.
        first, end: those inside the image are ``first <= column < end``, counted from `start`.
    """

    start: int
    image_start: int
    count: int
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class ColumnLoop:
    """A loop over the columns of a run that are inside the image, some at a time.

    Attributes:
        run: the columns.
        step: columns of a turn.
    """

    run: ColumnRun
    step: int

    @property
    def last(self) -> int | None:
        """First column of the last turn, which does some columns twice; None if no turn does."""
        partial = (self.run.end - self.run.first) % self.step > 0
        return self.run.end - self.step if partial else None


def remainders(kernel: int, dilation: int, stride: int) -> tuple[int, ...]:
    """The remainders by the stride that the rows or columns of taps have, the least first."""
    return tuple(sorted({tap * dilation % stride for tap in range(kernel)}))


def inside(window: Window, remainder: int, columns: int) -> tuple[int, int]:
    """Columns of a run that are inside the image, of those with a remainder by the stride.

    Args:
        window: geometry of the convolution.
        remainder: what a division of a tap's column by the stride leaves, for taps that read the
            run.
        columns: how many the run has, padding included.

    Returns:
        The first one, and the end; the same where all are padding.
    """
    start, stride = remainder - window.pad_left, window.stride_w
    first = min(columns, max(0, -(start // stride)))
    return first, max(first, min(columns, -((start - window.width) // stride)))


def column_runs(window: Window) -> tuple[ColumnRun, ...]:
    """The columns of a row, one run per remainder; remainders that no tap has are left out."""
    stride = window.stride_w
    taps = [kx * window.dilation_w for kx in range(window.kernel_w)]
    found: list[ColumnRun] = []
    start = 0
    for phase in remainders(window.kernel_w, window.dilation_w, stride):
        last = max(tap // stride for tap in taps if tap % stride == phase)
        count = window.out_width + last
        ends = inside(window, phase, count)
        found.append(ColumnRun(start, phase - window.pad_left, count, *ends))
        start += count
    return tuple(found)


def tap_columns(window: Window) -> tuple[int, ...]:
    """For each kx, the column of a row that output column 0 reads."""
    starts = {(run.image_start + window.pad_left): run.start for run in column_runs(window)}
    taps = [kx * window.dilation_w for kx in range(window.kernel_w)]
    return tuple(starts[tap % window.stride_w] + tap // window.stride_w for tap in taps)


class TableColumns:
    """The columns of a table of responses: one part of `spec.PooledConv`, which has the fields.

    Attributes:
        window: geometry of the convolution.
    """

    __slots__ = ()
    window: Window

    @property
    def column_runs(self) -> tuple[ColumnRun, ...]:
        """The columns of a row."""
        return column_runs(self.window)

    @property
    def tap_columns(self) -> tuple[int, ...]:
        """For each kx, the column of a row that output column 0 reads."""
        return tap_columns(self.window)

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
    def has_block_of_4(self) -> bool:
        """A row ends with a block of four columns."""
        return BLOCKS[1] in self.blocks

    @property
    def padded_width(self) -> int:
        """Output columns that are gathered; those beyond the last are garbage."""
        return sum(self.blocks)

    @property
    def stored_columns(self) -> int:
        """Output columns that a turn of the loop of the outputs stores."""
        return math.gcd(self.window.out_width, _STORED)


@dataclass(frozen=True, slots=True)
class TapRow:
    """A row of taps.

    Attributes:
        row_bytes: bytes from its base to its pair row.
        ends_base: the next row of taps has another base, or there is none.
    """

    row_bytes: int
    ends_base: bool


class TableRows(TableColumns):
    """The rows of a table of responses: one part of `spec.PooledConv`, which has the fields.

    Attributes:
        lanes: output rows that a word serves, 1 or 2.
        keep_rows: the table holds all pair rows.
    """

    __slots__ = ()
    lanes: int
    keep_rows: bool

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
        pairs = (((0 <= row < height), (0 <= row + self.lane_rows < height)) for row in rows)
        return self.lanes == 2 and any(low != high for low, high in pairs)

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
