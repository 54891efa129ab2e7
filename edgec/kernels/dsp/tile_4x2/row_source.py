"""What becomes a row of a tile: rows of x, pixels of it, or windows; and how it is widened."""

from __future__ import annotations

from edgec.kernels.common.dense_weights import WORD
from edgec.kernels.common.window import Window
from edgec.kernels.dsp.tile_4x2.blocks import ROWS, TileBlocks

_INTERLEAVED = "EDGEC_TILE_4X2_INTERLEAVED"


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
        """What becomes a row.

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
        """How many rows a block has, in C; None where no code for a block asks."""
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
