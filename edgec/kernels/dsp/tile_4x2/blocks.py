"""The rows of a layer in blocks of four and of three, whose sums are computed together."""

from __future__ import annotations

from edgec.kernels.dsp.tile_4x2.outputs import TileOutputs

ROWS = 4
"""Rows of x whose sums are computed together."""

FEWER = 3
"""Rows of a block of fewer: `edgec/tile_4x2_words.h`."""

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
        return self.store in ("high", "offset31", "twice31")

    @property
    def rows_by_four(self) -> int:
        """Rows in blocks of four, which come first."""
        return max(self.rows - FEWER * self.threes, 0)

    @property
    def next(self) -> str:
        """Rows from the block that begins with row `first` to the next one, in C."""
        names = {ROWS: "EDGEC_TILE_4X2_ROWS", FEWER: "EDGEC_TILE_4X2_FEWER"}
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
