"""Tiles of rows whose sums with four filters the NEON kernel computes together."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.kernels.neon.weights import ROWS


@dataclass(frozen=True, slots=True)
class TileRow:
    """A row whose codes are in one half of a vector of eight.

    Attributes:
        number: number of the row in its tile.
        half: 0 for the low half, 1 for the high one.
    """

    number: int
    half: int

    @property
    def lane(self) -> int:
        """The first lane of its codes."""
        return self.half * ROWS


@dataclass(frozen=True, slots=True)
class TilePair:
    """Rows whose codes are stored from one vector: two, or one twice."""

    rows: tuple[TileRow, ...]

    @property
    def first(self) -> TileRow:
        """The row in the low half."""
        return self.rows[0]

    @property
    def last(self) -> TileRow:
        """The row in the high half."""
        return self.rows[-1]


@dataclass(frozen=True, slots=True)
class Tile:
    """Rows whose sums with four filters one function computes: four, or one."""

    rows: int

    @property
    def is_single(self) -> bool:
        """The tile is one row."""
        return self.rows == 1

    @property
    def others(self) -> range:
        """The rows after the first one."""
        return range(1, self.rows)

    @property
    def pairs(self) -> tuple[TilePair, ...]:
        """The rows, two by two."""
        numbers = range(self.rows)
        halves = (numbers[first : first + 2] for first in numbers[::2])
        return tuple(
            TilePair(tuple(TileRow(number, half) for half, number in enumerate(pair)))
            for pair in halves
        )

    @property
    def last_pair(self) -> TilePair:
        """The last two rows."""
        return self.pairs[-1]
