"""How the columns of an image lie in a row of the table of responses.

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


def column_runs(window: Window) -> tuple[ColumnRun, ...]:
    """The columns of a row, one run per remainder; remainders that no tap has are left out."""
    stride = window.stride_w
    taps = [kx * window.dilation_w for kx in range(window.kernel_w)]
    found: list[ColumnRun] = []
    start = 0
    for phase in sorted({tap % stride for tap in taps}):
        last = max(tap // stride for tap in taps if tap % stride == phase)
        count = window.out_width + last
        image_start = phase - window.pad_left
        first = min(count, max(0, -(image_start // stride)))
        end = max(first, min(count, -((image_start - window.width) // stride)))
        found.append(ColumnRun(start, image_start, count, first, end))
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
