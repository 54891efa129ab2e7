"""How the rows of an image lie in the table of responses: as pair rows, one for each lane.

Pair row r holds the input rows r and r + D, which the two lanes of a word serve.
"""

from __future__ import annotations

from dataclasses import dataclass

from edgec.kernels.weightpool.gather.columns import WORD_BYTES, TableColumns


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
