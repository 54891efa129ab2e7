"""Source and widening of a tile's rows: rows of x, pixels of it, or windows (im2col).

The rows of a layer in blocks of four and of three, whose sums are computed together.
"""

from __future__ import annotations

from edgec.kernels.common.dense import WORD
from edgec.kernels.common.window import Window
from edgec.kernels.dsp.dense_4x2_s8_dsp.outputs import TileOutputs

ROWS = 4
"""Rows of x whose sums are computed together."""

FEWER = 3
"""Rows of a block of fewer: `edgec/dense/dense_4x2_words.h`."""

_IDLE = 50
"""Blocks of fewer rows are worth their code where more than one row in fifty would be computed for
nothing: images of 5x5, 7x7 and 25x5 pixels get them, 197 tokens do not."""

_IDLE_IN_SMALL_CODE = 20
"""As `_IDLE`, where small code is preferred: 25x5 pixels do not get such blocks."""

_LARGEST_STEP = 4095 // (ROWS - 1)
"""Bytes from row to row that a store reaches all rows with (Arm v7-M architecture reference manual,
A7.7.162)."""


class TileBlocks(TileOutputs):
    """The blocks of a kernel.

    Attributes:
        rows: rows of x in a call.
        variable: the rows of a run are an argument.
        saves_code: small code is preferred.
    """

    __slots__ = ()
    rows: int
    variable: bool
    saves_code: bool

    @property
    def mixes(self) -> bool:
        """There are blocks of four rows, and then blocks of three."""
        return len(self.heights) > 1

    @property
    def heights(self) -> tuple[int, ...]:
        """The numbers of rows that blocks have: 4, 3 or both."""
        fours, threes = self.blocks - self.threes, self.threes
        return tuple(n for n, blocks in ((ROWS, fours), (FEWER, threes)) if blocks)

    @property
    def threes(self) -> int:
        """Blocks of three rows, so that few rows are computed for nothing."""
        idle = -self.rows % ROWS
        few = idle * (_IDLE_IN_SMALL_CODE if self.saves_code else _IDLE) <= self.rows
        if few or self.variable or not self.has_blocks_of_fewer:
            return 0
        return min(idle, -(-self.rows // FEWER))

    @property
    def has_blocks_of_fewer(self) -> bool:
        """There is a function for blocks of three rows."""
        return self.store in ("high", "offset31", "two_roundings31")

    @property
    def rows_by_four(self) -> int:
        """Rows in blocks of four, which come first."""
        return max(self.rows - FEWER * self.threes, 0)

    @property
    def next(self) -> str:
        """Rows from the block that begins with row `first` to the next one, in C."""
        names = {ROWS: "EDGEC_DENSE_4X2_ROWS", FEWER: "EDGEC_DENSE_4X2_FEWER"}
        if self.mixes:
            return f"(first < {self.rows_by_four}) ? {names[ROWS]} : {names[FEWER]}"
        return names[self.heights[0]]

    @property
    def tall(self) -> str:
        """Rows of a block, in C."""
        return "tall" if self.mixes else self.next

    @property
    def first_rows(self) -> tuple[int, ...]:
        """The first row of each block."""
        threes = range(self.rows_by_four, self.rows, FEWER) if self.threes else ()
        return (*range(0, self.rows_by_four, ROWS), *threes)

    @property
    def blocks(self) -> int:
        """Blocks of rows."""
        return -(-self.rows_by_four // ROWS) + self.threes

    @property
    def idle(self) -> int:
        """Rows that are computed for nothing."""
        return ROWS * (self.blocks - self.threes) + FEWER * self.threes - self.rows

    @property
    def rest(self) -> int:
        """Rows in the last block, if it is not full."""
        return self.heights[-1] - self.idle if self.idle else 0

    @property
    def fills_blocks(self) -> bool:
        """Every block is full, and its rows of outputs follow each other."""
        return not self.variable and self.idle == 0

    @property
    def end_row(self) -> str:
        """The rows of a run, in C."""
        return "rows" if self.variable else "ROWS"

    @property
    def out_step(self) -> int:
        """Bytes from a row of outputs to the next where a constant may say it; else 0."""
        return self.row_bytes if self.fills_blocks and self.row_bytes <= _LARGEST_STEP else 0


_INTERLEAVED = "EDGEC_DENSE_4X2_INTERLEAVED"


class TileRows(TileBlocks):
    """The rows of a kernel.

    Attributes:
        depth: weights of a filter, with the zeros after them.
        window: the window of a convolution that is not pointwise.
        any_code: x may hold any code; else it holds no code -128.
    """

    __slots__ = ()
    depth: int
    window: Window | None
    any_code: bool

    @property
    def used_depth(self) -> int:
        """Weights of one filter without the zeros after them."""
        return self.depth if self.window is None else self.window.taps * self.window.channels

    @property
    def padding(self) -> int:
        """Zeros after the weights of a filter."""
        return self.depth - self.used_depth

    @property
    def words(self) -> int:
        """Words of weights of one filter."""
        return self.depth // WORD

    @property
    def widens_runs(self) -> bool:
        """Rows of a window are widened where they lie; else they are gathered first."""
        w = self.window
        return w is not None and w.channels % WORD == 0 and w.columns_are_runs

    @property
    def gathers(self) -> bool:
        """Some rows are put together in scratch memory before they are widened."""
        return self.row_source in ("patch", "filled")

    @property
    def takes_rows(self) -> bool:
        """Rows of x, one after the other, are read in blocks, filled up to words or not."""
        return self.row_source in ("block", "filled")

    @property
    def row_source(self) -> str:
        """Source of a tile's rows.

        It is one of the "rows" of x, which a call may widen as a "block", the last of them "filled"
        up to words, or pixels of x that are "strided", or "runs" of a window where they lie, or a
        "patch".  Only functions that store from registers know how a block repeats rows.
        """
        if self.window is None:
            return "block" if self.any_code and (self.fuses or self.fills_blocks) else "rows"
        if self.window.is_pointwise and self.any_code and (self.fuses or self.fills_blocks):
            return "filled"
        if self._is_strided:
            return "strided"
        return "runs" if self.widens_runs else "patch"

    @property
    def _is_strided(self) -> bool:
        """Rows are pixels of x, and those of a block are as far from each other."""
        w = self.window
        if w is None or w.taps > 1 or w.rows_clipped or w.cols_clipped or self.padding:
            return False
        return self.any_code and self.heights == (ROWS,) and w.out_width % ROWS == 0

    @property
    def block_step(self) -> str:
        """Bytes from row 0 of a block to row 1, in C."""
        return "DEPTH" if self.fills_blocks else "(count < 3) ? 0 : DEPTH"

    @property
    def rows_of_places(self) -> tuple[str, ...]:
        """The rows whose places rows 1 to 3 of a block have, in C, where the run says them.

        Of a "block", two rows are row 0 three times and row 1, three are the rows 0, 1, 2 and 2.
        """
        if self.fills_blocks and not self.mixes:
            return ()
        last = "count - 1"
        if self.row_source in ("block", "filled"):
            # No two constants of a choice: gcc would load the pair through a register of the FPU.
            return f"({last}) >> 1", f"({last}) & 2", last
        return f"edgec_min_s32(1, {last})", f"edgec_min_s32(2, {last})", last

    @property
    def last_row(self) -> str:
        """Bytes from row 0 of a block to row 3, in C."""
        count = self.tall if self.fills_blocks else "count"
        return f"({count} - 1) * DEPTH"

    @property
    def count(self) -> str | None:
        """C expression for the number of rows in a block; None where no code needs it."""
        if self.variable or self.rest:
            return f"edgec_min_s32({self.end_row} - first, {self.tall})"
        from_sums = self.rescale16 is None and not self.fuses
        asks = self.row_source == "rows" or from_sums or self.adds or self.rows_of_places
        return self.tall if asks else None

    @property
    def fills(self) -> bool:
        """Runs of padding are widened, too."""
        w = self.window
        return w is not None and self.widens_runs and (w.rows_clipped or w.cols_clipped)

    @property
    def widen_function(self) -> str:
        """C function that widens a row."""
        return "edgec_widen4_any" if self.any_code else "edgec_widen4"

    @property
    def row_distance(self) -> str:
        """Bytes from a widened row to the next, in C."""
        return _INTERLEAVED
