"""Specification of convolutions that widen the input of a whole row of output pixels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.kernels.common.dense import WORD
from edgec.kernels.common.window import Window
from edgec.kernels.dsp.dense_4x2_s8_dsp.rows import ROWS
from edgec.kernels.dsp.dense_4x2_s8_dsp.spec import Dense4x2, unrolled
from edgec.kernels.family import template_beside

_SUM_BYTES = 4

_WIDENED_BYTES = 8
"""Two words of pairs for four values."""

_LARGEST_OFFSET = 4095
"""The farthest that an LDR reaches from its base register (Arm v7-M architecture reference manual,
A7.7.43)."""

_MOST_WRITTEN_OUT = 8
"""Words of the rows of a window that are widened without a loop, 30 bytes of code each."""

_MOST_IN_SMALL_CACHES = 6
"""Words in a turn of the loop, 104 bytes each, where 1 KB of cache holds a turn and what is around
it: no other code runs until a line is done."""


@dataclass(frozen=True, slots=True)
class Conv4x2(Dense4x2):
    """Convolution of one group, four pixels of a line by two filters:
    `edgec/dense/conv_4x2_s8_dsp.h`.

    All that a line of output pixels reads is widened before its sums are computed.  Where pixels
    hold full words, a column of the image is widened once for all windows that it is in; weights
    then are [filters, columns of the window, rows of the window, channels].  Else the rows of the
    image that a few lines read are copied with their padding, and windows are widened one by one:
    first the full words of each row of a window, then what is left of all of them, and weights are
    in this order.

    Attributes are those of `Dense4x2`; `window` is one whose columns are runs of memory.
    """

    family: ClassVar[str] = "conv_4x2_s8_dsp"
    template: ClassVar[Path] = template_beside(__file__, "conv_4x2_s8_dsp")

    @property
    def usual_turn(self) -> int:
        """Words in one turn of the loop, where nobody measured."""
        return unrolled(self.words, roomy=self.roomy, most_in_small_caches=_MOST_IN_SMALL_CACHES)

    @property
    def image(self) -> Window:
        """The window, which every specification has."""
        assert self.window is not None
        return self.window

    @property
    def row_source(self) -> str:
        """Source of widened rows: "columns" of the image, or a "patch" for each window (im2col)."""
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
    def reaches(self) -> bool:
        """Loads reach the last of four pixels."""
        return (ROWS - 1) * self.pixel_distance + _WIDENED_BYTES <= _LARGEST_OFFSET

    @property
    def pixel_words(self) -> int:
        """Words from what a pixel reads to what the next one reads."""
        return self.pixel_distance // 4

    @property
    def lines(self) -> int:
        """Lines of output pixels whose windows are widened together, to fill blocks of four."""
        w = self.image
        if self.shares_columns or self.adds:
            return 1
        return min(range(1, min(ROWS, w.out_height) + 1), key=self._idle)

    def _idle(self, lines: int) -> int:
        """Pixels that are computed again where this number of lines is widened together."""
        w = self.image
        last = w.out_height % lines
        idle = w.out_height // lines * (-lines * w.out_width % ROWS)
        return idle + -last * w.out_width % ROWS

    @property
    def has_blocks(self) -> bool:
        """Every batch of lines fills a block of four pixels."""
        return self.image.out_width * (self.image.out_height % self.lines or self.lines) >= ROWS

    @property
    def blocks(self) -> int:
        """Blocks of four pixels in all lines."""
        return (self.rows + self._idle(self.lines)) // ROWS

    @property
    def has_blocks_of_fewer(self) -> bool:
        """All blocks have four pixels."""
        return False

    @property
    def fills_blocks(self) -> bool:
        """Every block has four pixels that follow each other."""
        return True

    @property
    def starts_at(self) -> int:
        """Place in scratch of where the sums of a line's pixels start, after the widened values."""
        if self.shares_columns:
            return self.columns * self.column_words * 4
        return self.lines * self.image.out_width * self.words * _WIDENED_BYTES

    @property
    def totals_at(self) -> int:
        """Place of what a column adds to the starts of its windows."""
        return self.starts_at + self.lines * self.image.out_width * _SUM_BYTES

    @property
    def added_at(self) -> int:
        """Place of the results that a residual is added to."""
        totals = self.columns * _SUM_BYTES if self.shares_columns else 0
        return self.totals_at + totals

    @property
    def run_words(self) -> int:
        """Full words in a row of a window."""
        return self.image.kernel_w * self.image.channels // WORD

    @property
    def unrolls_rows(self) -> bool:
        """The loop over the rows of a window is written out."""
        return self.image.kernel_h * self.run_words <= _MOST_WRITTEN_OUT

    @property
    def run_rest(self) -> int:
        """Bytes of a row of a window after its full words."""
        return self.image.kernel_w * self.image.channels % WORD

    @property
    def rest_words(self) -> int:
        """Words that these bytes of all rows make up."""
        return self.words - self.image.kernel_h * self.run_words

    @property
    def left_bytes(self) -> int:
        """Padding before a row of the image."""
        return self.image.pad_left * self.image.channels

    @property
    def inside_bytes(self) -> int:
        """Bytes of an image row that windows read."""
        return (self.inside_end - self.image.pad_left) * self.image.channels

    @property
    def copied_row(self) -> int:
        """Bytes from a copied row to the next."""
        return -(-self.columns * self.image.channels // WORD) * WORD

    @property
    def rows_of_window(self) -> int:
        """Rows from the first to the last one of a window."""
        return (self.image.kernel_h - 1) * self.image.dilation_h + 1

    @property
    def rows_at(self) -> int:
        """Place of the copied rows, at a multiple of four bytes."""
        added = self.image.out_width * self.units if self.adds else 0
        return self.added_at + -(-added // WORD) * WORD

    @property
    def patch_at(self) -> int:
        """Place of what is left of the rows of a window."""
        rows = (self.lines - 1) * self.image.stride_h + self.rows_of_window
        return self.rows_at + (0 if self.shares_columns else rows * self.copied_row)

    @property
    def scratch_bytes(self) -> int:
        """Widened values, sums, the results of a line, copied rows, and what is left of them."""
        return self.patch_at + (0 if self.shares_columns else self.rest_words * WORD)

    def describe(self) -> str:
        """Operator, shapes and blocking in words, for a comment in C."""
        return Dense4x2.describe(self).replace("four rows at a time", "a line at a time")
