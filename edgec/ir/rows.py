"""Chains of layers that compute a few rows at a time: which rows they need, and when.

A layer of a chain fires as soon as the rows that its window needs are there, so that a tensor
within the chain takes the rows of a window and not its whole height.  All of it is known at compile
time: a chain is a loop whose nodes run in some of its turns (`base.calls.Firing`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from edgec.base.calls import Firing

ROWS = 1
"""Axis of the rows of an image [N, H, W, C]."""
COLUMNS = 2
"""Axis of its columns."""


@dataclass(frozen=True, slots=True)
class RowWindow:
    """Rows of an operand that rows of the output are computed from.

    Row o needs the rows ``[w * stride - top, w * stride - top + size)`` with ``w = floor(o /
    repeat)``; those outside of the image are padding.

    Attributes:
        size: rows of the window, the gaps between its taps included.
        stride: distance of the windows of two rows.
        top: rows of padding above the image.
        least_code: whether padding is the least code of the type, and not the zero point.
        repeat: rows of the output that are computed from one window; rows of a time are multiples.
    """

    size: int = 1
    stride: int = 1
    top: int = 0
    least_code: bool = False
    repeat: int = 1

    def advance(self, rows: int) -> int:
        """Rows by which the windows move on from some rows of the output to the next ones."""
        return rows // self.repeat * self.stride

    def height(self, rows: int) -> int:
        """Rows that some neighbouring rows of the output need together."""
        return (rows // self.repeat - 1) * self.stride + self.size


EACH_ROW = RowWindow()
"""A row for each row."""


def without_rows(pads: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    """Padding (top, left, bottom, right) of columns alone."""
    _, left, _, right = pads
    return 0, left, 0, right


def with_columns(
    pads: tuple[int, int, int, int], left: int, right: int
) -> tuple[int, int, int, int]:
    """Padding (top, left, bottom, right) with other numbers of columns."""
    top, _, bottom, _ = pads
    return top, left, bottom, right


@dataclass(frozen=True, slots=True)
class RowFill:
    """Rows of padding around, or before, the rows of a tensor.

    Attributes:
        tensor: the tensor that is filled before the first turn; where it holds a whole image, only
            the rows around that.
        byte: every byte of the padding.
        top, bottom: rows to fill at its begin and at its end.
    """

    tensor: str
    byte: int
    top: int
    bottom: int = 0


@dataclass(frozen=True, slots=True)
class RowBuffer:
    """Sliding window over the rows of a tensor: before new rows, the others move up.

    Attributes:
        tensor: [1, depth, W, C].
        rows: new rows of a time, at its end.
        byte: every byte of a row of padding.
    """

    tensor: str
    rows: int
    byte: int


@dataclass(frozen=True, slots=True)
class HandedRows:
    """Rows of the graph's input that the caller hands over, some before each part of the turns.

    Attributes:
        name: the input, a tensor of the rows of a time.
        firing: its times; the first one is in turn 0.
        buffer: where its rows are, and those that later turns read.
    """

    name: str
    firing: Firing
    buffer: RowBuffer


@dataclass(frozen=True, slots=True, eq=False)
class RowChain:
    """Nodes that run in turns.

    Attributes:
        name: first and last tensor, untrusted.
        turns: number of turns.
        firings: the turns of each node, in their order, by name.
        outputs: the tensor that each node computes rows of, as the model's graph names it.
        buffers: for nodes whose rows are kept for later turns, where.
        fills: padding that is written before the first turn.
        whole: tensors of all rows that are read or written in parts.
        handed: rows of the graph's input that come between its turns; None: they are there before.
        waiting: tensors of the rows of a time that are read in another turn.
    """

    name: str
    turns: int
    firings: Mapping[str, Firing]
    outputs: Mapping[str, str]
    buffers: Mapping[str, RowBuffer]
    fills: tuple[RowFill, ...]
    whole: frozenset[str]
    handed: HandedRows | None = None
    waiting: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for name in ("firings", "outputs", "buffers"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
