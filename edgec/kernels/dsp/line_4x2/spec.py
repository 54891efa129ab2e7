"""Specification of convolutions that widen what a whole line of output pixels reads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.kernels.common.dense_weights import WORD
from edgec.kernels.common.window import Window
from edgec.kernels.dsp.tile_4x2.spec import ROWS, Tile4x2, unrolled
from edgec.kernels.family import template_beside

_SUM_BYTES = 4

_WIDENED_BYTES = 8
"""Two words of pairs for four values."""

_LARGEST_OFFSET = 4095
"""The farthest that an LDR reaches from its base register (Arm v7-M architecture reference manual,
A7.7.43)."""

_MOST_IN_SMALL_CACHES = 6
"""Words in a turn of the loop, 104 bytes each, where 1 KB of cache holds a turn and what is around
it: no other code runs until a line is done."""


@dataclass(frozen=True, slots=True)
class Line4x2(Tile4x2):
    """Convolution of one group, four pixels of a line by two filters: `edgec/line_4x2.h`.

    All that a line of output pixels reads is widened before its sums are computed.  Where pixels
    hold full words, a column of the image is widened once for all windows that it is in; weights
    then are [filters, columns of the window, rows of the window, channels].  Else windows are
    gathered first, one by one.

    Attributes are those of `Tile4x2`; `window` is one whose columns are runs of memory.
    """

    family: ClassVar[str] = "line_4x2"
    template: ClassVar[Path] = template_beside(__file__, "line_4x2")

    @property
    def unrolled(self) -> int:
        """Words in one turn of the loop."""
        return unrolled(self.words, roomy=self.roomy, most_in_small_caches=_MOST_IN_SMALL_CACHES)

    @property
    def image(self) -> Window:
        """The window, which every specification has."""
        assert self.window is not None
        return self.window

    @property
    def row_source(self) -> str:
        """What is widened: the "columns" of the image, or a "patch" for each window."""
        return "columns" if self.image.channels % WORD == 0 else "patch"

    @property
    def shares_columns(self) -> bool:
        """Columns are widened, which windows share."""
        return self.row_source == "columns"

    @property
    def pads(self) -> bool:
        """Some window reads padding."""
        return self.image.rows_clipped or self.image.cols_clipped

    @property
    def columns(self) -> int:
        """Columns of the image that a line reads, with those outside of it."""
        return (self.image.out_width - 1) * self.image.stride_w + self.image.kernel_w

    @property
    def inside_end(self) -> int:
        """The column after the last one that a line reads and that lies inside the image."""
        return min(self.columns, self.image.width + self.image.pad_left)

    @property
    def column_words(self) -> int:
        """Words of a widened column: two for four channels of each row of the window."""
        return 2 * self.image.kernel_h * self.image.channels // WORD

    @property
    def pixel_distance(self) -> int:
        """Bytes from what a pixel reads to what the next one reads."""
        if self.shares_columns:
            return self.column_words * 4 * self.image.stride_w
        return self.words * _WIDENED_BYTES

    @property
    def row_distance(self) -> str:
        """Bytes from a widened row to the next, in C."""
        return str(self.pixel_distance)

    @property
    def rows_end(self) -> str:
        """Where the widened values of the first of four pixels end, in C."""
        return "rows + WORDS * 2"

    @property
    def reaches(self) -> bool:
        """Loads reach the last of four pixels."""
        return (ROWS - 1) * self.pixel_distance + _WIDENED_BYTES <= _LARGEST_OFFSET

    @property
    def pixel_words(self) -> int:
        """Words from what a pixel reads to what the next one reads."""
        return self.pixel_distance // 4

    @property
    def last_block(self) -> int:
        """The first of the last four pixels of a line; some of them may be computed again."""
        return self.image.out_width - ROWS

    @property
    def line_blocks(self) -> int:
        """Blocks of four pixels in a line."""
        return -(-self.image.out_width // ROWS)

    @property
    def blocks(self) -> int:
        """Blocks of four pixels in all lines."""
        return self.image.out_height * self.line_blocks

    @property
    def starts_at(self) -> int:
        """Place in scratch of where the sums of a line's pixels start, after the widened values."""
        if self.shares_columns:
            return self.columns * self.column_words * 4
        return self.image.out_width * self.words * _WIDENED_BYTES

    @property
    def totals_at(self) -> int:
        """Place of what a column adds to the starts of its windows."""
        return self.starts_at + self.image.out_width * _SUM_BYTES

    @property
    def added_at(self) -> int:
        """Place of the results that a residual is added to."""
        totals = self.columns * _SUM_BYTES if self.shares_columns else 0
        return self.totals_at + totals

    @property
    def patch_at(self) -> int:
        """Place of a gathered window, at a multiple of four bytes."""
        added = self.image.out_width * self.units if self.adds else 0
        return self.added_at + -(-added // 4) * 4

    @property
    def scratch_bytes(self) -> int:
        """Widened values, sums, the results of a line, and a window."""
        return self.patch_at + (0 if self.shares_columns else self.depth)

    def describe(self) -> str:
        """What the function computes, in words."""
        return Tile4x2.describe(self).replace("four rows at a time", "a line at a time")
