"""Statements that the templates of pool kernels write out, every number decided.

Activations are rounded words of four codes.  Bit planes of eight channels lie in two words, the
*plane words*: planes 0 to 3 in the bytes of the first, 4 to 7 in those of the second.

Indices of vectors, packed into a stream of bits.

Addresses of rows of a look-up table in compiled code.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array

_WORD_CODES = 4

_BYTE = 8

_WORD_PLANES = 4
"""Planes in one plane word, one a byte."""

_UXTB16_ORDER = (0, 2, 1, 3)
"""The codes of a word in the order of the pool's weights, which is what UXTB16 gives."""


@dataclass(frozen=True, slots=True)
class CodePair:
    """Two words of codes that make up two plane words.

    Attributes:
        low, high: numbers of the words; `high` is None where a group has four channels.
        first, second: numbers of the plane words, that of planes 0 to 3 first.
    """

    low: int
    high: int | None
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class PlaneRow:
    """A row of the look-up table: that of one part of the channels of one bit plane.

    Attributes:
        number: number of the row among all rows of a pixel.
        part: part of the channels.
        pair: number of the first of the two plane words of its channels.
        half: which of the two holds the plane: 0, or 1 for planes 4 to 7.
        shift: bits to the right, up to the index of the row in the table.
    """

    number: int
    part: int
    pair: int
    half: int
    shift: int

    @property
    def word(self) -> int:
        """Number of the plane word that holds the plane."""
        return self.pair + self.half

    @property
    def half_from_top(self) -> int:
        """Index (0 or 1) of the plane word that holds the plane, counted from planes 4 to 7."""
        return 1 - self.half


@dataclass(frozen=True, slots=True)
class Code:
    """A code in the order of the pool's weights.

    Attributes:
        number: in that order.
        shift: bits from the code to the low end of its word.
    """

    number: int
    shift: int


@dataclass(frozen=True, slots=True)
class IndexPart:
    """Upper bits of a packed index.

    Attributes:
        byte: number of the byte that holds them.
        shift: bits to the left, up to their place in the index.
    """

    byte: int
    shift: int


@dataclass(frozen=True, slots=True)
class PackedIndex:
    """Bits of a packed index within its block.

    Attributes:
        byte: number of the byte that holds its low bits.
        shift: bits below them in this byte.
        others: the rest of its bits.
    """

    byte: int
    shift: int
    others: tuple[IndexPart, ...]


@dataclass(frozen=True, slots=True)
class TableVector:
    """One of the four vectors of a word of sums.

    Attributes:
        number: 0 to 3.
        lanes: "even" or "odd", the word of sums that it is in.
        half: "low" or "high", the lane.
        is_upper: it is the high lane.
        may_be_padding: in the last word of a row there may be no such vector.
    """

    number: int
    lanes: str
    half: str
    is_upper: bool
    may_be_padding: bool


def code_pairs(group: int) -> tuple[CodePair, ...]:
    """The words of `group` codes, two by two."""
    words = group // _WORD_CODES
    return tuple(
        CodePair(low, low + 1 if low + 1 < words else None, low, low + 1)
        for low in range(0, words, 2)
    )


def plane_rows(planes: range, part: int, parts: int) -> tuple[PlaneRow, ...]:
    """The rows of `planes`, the bits of a code, in this order, all parts of a plane in turn.

    Args:
        planes: bits of a code; bit 0 is the low one.
        part: channels of a part.
        parts: number of parts of a plane.
    """
    rows: list[PlaneRow] = []
    for plane in planes:
        for number in range(parts):
            eight, channel = divmod(number * part, _BYTE)
            half, place = divmod(plane, _WORD_PLANES)
            shift = place * _BYTE + channel
            rows.append(PlaneRow(len(rows), number, eight * 2, half, shift))
    return tuple(rows)


def numbers_by_plane(planes: int, parts: int) -> tuple[tuple[int, ...], ...]:
    """The numbers of the rows of each plane, in the order of `plane_rows`."""
    return tuple(tuple(range(plane * parts, (plane + 1) * parts)) for plane in range(planes))


def codes_by_word(group: int) -> tuple[tuple[Code, ...], ...]:
    """The codes of each word, in the order of the pool's weights."""
    return tuple(
        tuple(
            Code(_WORD_CODES * word + number, _BYTE * place)
            for number, place in enumerate(_UXTB16_ORDER)
        )
        for word in range(group // _WORD_CODES)
    )


def weight_pairs(group: int) -> tuple[tuple[int, int], ...]:
    """The codes that meet the two weights of each word of the pool."""
    return tuple((code, code + 1) for code in range(0, group, 2))


def unpacked(bits: int) -> tuple[PackedIndex, ...]:
    """Eight indices of `bits` bits that lie in `bits` bytes, the first in the lowest bits."""
    found = []
    for number in range(_BYTE):
        first, shift = divmod(number * bits, _BYTE)
        others = range(1, -(-(shift + bits) // _BYTE))
        parts = tuple(IndexPart(first + part, _BYTE * part - shift) for part in others)
        found.append(PackedIndex(first, shift, parts))
    return tuple(found)


def table_vectors(tail: int) -> tuple[TableVector, ...]:
    """The vectors of a word of sums, of which the last word of a row has `tail`."""
    return tuple(
        TableVector(
            number=number,
            lanes="odd" if number % 2 else "even",
            half="high" if number >= 2 else "low",
            is_upper=number >= 2,
            may_be_padding=number >= tail,
        )
        for number in range(_WORD_CODES)
    )


def packed_indices(indices: Array, bits: int) -> Array:
    """A little-endian stream of numbers of `bits` bits each, row-major; uint8 [bytes].

    Bit i of the stream is bit i % 8 of byte i // 8; bits after the last number are 0.
    """
    flat = indices.reshape(-1, 1).astype(np.uint16)
    planes = (flat >> np.arange(bits, dtype=np.uint16)) & 1
    return np.packbits(planes.astype(np.uint8), bitorder="little")


_ROWS_IN_REGISTERS = 4
"""Addresses of rows of a look-up table that compiled code keeps in registers."""


def spilled_rows(rows: int) -> int:
    """Number of the `rows` addresses that are loaded again for every use."""
    return max(0, rows - _ROWS_IN_REGISTERS)
