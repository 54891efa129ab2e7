"""Layout of the table of responses of `PooledConvNeon`: lines of positions.

The rows of an image stand one after another in a line, `pitch` positions each, so that a tap is a
distance along the line, and sixteen neighbouring positions are two vectors wherever they lie.
Padding to the right of a row may be that to the left of the next one.  With strides there is a line
for each remainder of rows and of columns that a tap has; all have the pitch of the output.
"""

from __future__ import annotations

from dataclasses import dataclass

from edgec.kernels.weightpool.gather.groups import TableGroups
from edgec.kernels.weightpool.gather.layout import inside, remainders

LANES = 8
"""Positions of a vector of int16."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of positions: rows and columns of the image of one remainder each.

    Attributes:
        start: its first position.
        row: row of the image that its first row holds, for the first row of outputs.
        column: column of the image that its first column holds; negative in the padding.
        first, end: columns that are inside the image are ``first <= column < end``.
    """

    start: int
    row: int
    column: int
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class Blocks:
    """Blocks of equal width that follow each other.

    Attributes:
        vectors: vectors of eight positions in a block.
        first, end: positions.
    """

    vectors: int
    first: int
    end: int

    @property
    def step(self) -> int:
        """Positions of a block."""
        return LANES * self.vectors

    @property
    def numbers(self) -> range:
        """Numbers of the vectors."""
        return range(self.vectors)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Vectors that are loaded together."""
        return tuple((first, first + 1) for first in range(0, self.vectors - 1, 2))

    @property
    def alone(self) -> tuple[int, ...]:
        """The last vector, if it has no other beside it."""
        return (self.vectors - 1,) if self.vectors % 2 else ()


def _reach(kernel: int, dilation: int, stride: int) -> int:
    """Rows or columns of a line from those of the first tap to those of the last one."""
    return (kernel - 1) * dilation // stride


class TableLines(TableGroups):
    """The table of `PooledConvNeon`, which has the fields.

    Attributes:
        band: rows of outputs that are computed together.
        pool_size: vectors of the pool, S.
        most: vectors of positions that are added up together, at most.
    """

    __slots__ = ()
    band: int
    pool_size: int
    most: int

    # ---- Lines ----

    @property
    def line_rows(self) -> int:
        """Rows of a line."""
        w = self.window
        return self.band + _reach(w.kernel_h, w.dilation_h, w.stride_h)

    @property
    def line_columns(self) -> int:
        """Columns of a row, with padding."""
        w = self.window
        return w.out_width + _reach(w.kernel_w, w.dilation_w, w.stride_w)

    @property
    def shared_columns(self) -> int:
        """Zeros at the end of a row that are those at the beginning of the next one."""
        filled = [ends for ends in map(self._inside, self._columns) if ends[0] < ends[1]]
        free = [min(first, self.line_columns - end) for first, end in filled]
        return min(free, default=0)

    @property
    def pitch(self) -> int:
        """Positions from a row to the next one."""
        return self.line_columns - self.shared_columns

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines, one after another: those of a remainder of rows side by side."""
        w = self.window
        found: list[Line] = []
        for row in self._rows:
            for column in self._columns:
                start = len(found) * self._line_positions
                place = row - w.pad_top, column - w.pad_left
                found.append(Line(start, *place, *self._inside(column)))
        return tuple(found)

    @property
    def positions(self) -> int:
        """Positions of all lines: from the responses of a vector to those of the next one."""
        lines = len(self._rows) * len(self._columns)
        return _whole(lines * self._line_positions)

    @property
    def _rows(self) -> tuple[int, ...]:
        w = self.window
        return remainders(w.kernel_h, w.dilation_h, w.stride_h)

    @property
    def _columns(self) -> tuple[int, ...]:
        w = self.window
        return remainders(w.kernel_w, w.dilation_w, w.stride_w)

    @property
    def _line_positions(self) -> int:
        return self.line_rows * self.pitch + self.shared_columns

    def _inside(self, remainder: int) -> tuple[int, int]:
        """Columns of a row that are inside the image: the first one, and the end."""
        return inside(self.window, remainder, self.line_columns)

    # ---- Places of taps ----

    @property
    def vector_step(self) -> int:
        """From the place of a vector to that of the next one, in steps of an entry: responses."""
        return self.positions

    @property
    def group_step(self) -> int:
        """From the place of a group to that of the next one."""
        return self.pool_size * self.positions

    @property
    def tap_row_places(self) -> tuple[int, ...]:
        """For each ky, the position that output row 0 of a band reads, of column 0."""
        w = self.window
        lines = len(self._columns) * self._line_positions
        found = []
        for ky in range(w.kernel_h):
            down, remainder = divmod(ky * w.dilation_h, w.stride_h)
            found.append(self._rows.index(remainder) * lines + down * self.pitch)
        return tuple(found)

    @property
    def tap_columns(self) -> tuple[int, ...]:
        """For each kx, the position that output column 0 reads, within a row of taps."""
        w = self.window
        found = []
        for kx in range(w.kernel_w):
            across, remainder = divmod(kx * w.dilation_w, w.stride_w)
            found.append(self._columns.index(remainder) * self._line_positions + across)
        return tuple(found)

    # ---- Outputs ----

    @property
    def out_positions(self) -> int:
        """Positions of the outputs of a band, and garbage up to a whole vector."""
        return _whole((self.band - 1) * self.pitch + self.window.out_width)

    @property
    def position_blocks(self) -> tuple[Blocks, ...]:
        """Blocks of positions, as equal as they can be."""
        vectors = self.out_positions // LANES
        count = -(-vectors // self.most)
        least, wider = divmod(vectors, count)
        middle = wider * (least + 1) * LANES
        found = (Blocks(least + 1, 0, middle), Blocks(least, middle, self.out_positions))
        return tuple(each for each in found if each.first < each.end)

    @property
    def read_positions(self) -> int:
        """Positions of a vector that blocks read, those after its last one among them."""
        last = max(self.tap_row_places) + max(self.tap_columns)
        return max(self.positions, last + self.out_positions)


def _whole(positions: int) -> int:
    """Positions up to a whole vector."""
    return -(-positions // LANES) * LANES
