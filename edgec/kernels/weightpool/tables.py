"""Constants from which a pooled kernel builds the responses of a pixel, in the order it reads them.

A response is the dot product of a group of activations with a vector of the pool
(`qops.PoolRounding`).  Three ways to build all of them, with equal results:

- multiply: products with the pool itself, widened to 16 bits;
- bitserial: a plane of the bits of eight channels is the index of a row of partial sums, one per
  vector; rows of successive planes are added with weights 2^plane (Li & Gupta, MLSys 2022);
- nibble: the same with planes of four channels, so that rows are few but looked up twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.weight_pool import WeightPool
from edgec.kernels.weightpool.unrolled import (
    Code,
    CodePair,
    PlaneRow,
    TableVector,
    code_pairs,
    codes_by_word,
    numbers_by_plane,
    plane_rows,
    table_vectors,
    weight_pairs,
)

_WORD = 4
"""Bytes of a word: entries of a look-up table that are added together."""

_BIAS = 128
"""Added to the partial sums of a pattern, so that they are unsigned bytes."""

_WORD_MASK = 0xFFFFFFFF

_CODE_BITS = 8

_UNROLLED = 8
"""Vectors that a loop of products does in one pass, at most."""

_HALF_SHIFT = 7
"""EDGEC_POOL_HALF_SHIFT of the C header."""

_PACKED_BITS = 4
"""Widest activations of which two fit the 16-bit operand of a product, sums of products apart."""

_PACKED_WORDS = 5
"""Words of a vector as EDGEC_POOL_PACKED reads it."""

_SUM_BIAS = 0x8000
"""Bias of both lanes of a table word, before the shift."""


class ResponseKind(Enum):
    """Method by which responses are built."""

    MULTIPLY = "multiply"
    BITSERIAL = "bitserial"
    NIBBLE = "nibble"


@dataclass(frozen=True, slots=True)
class ResponseBuilder:
    """Context of the macro `builder` of kernels/_pool_responses.c.j2.

    Attributes:
        kind: how responses are built.
        size: vectors of the pool, S.
        group: channels of a vector, G.
        shift: response shift k; 0 with one lane.
        bits: activation width b; None: an argument of the function.
        lanes: pixels of a table word: 2, or 1 with exact responses.
        row_words: words from the response of a vector to that of the next one.
        zero_is_min: the zero point is -128, as after a ReLU: t(zx) = 0 at any width.
        row_columns: fewest columns that are built side by side in a row.
        has_lone_rows: there are rows of which one lane is padding.
    """

    kind: ResponseKind
    size: int
    group: int
    shift: int
    bits: int | None
    lanes: int
    row_words: int
    zero_is_min: bool
    row_columns: int = 1
    has_lone_rows: bool = False

    @property
    def words(self) -> int:
        """Words of a row of the look-up table: four vectors each, the last one padded."""
        return -(-self.size // _WORD)

    @property
    def tail(self) -> int:
        """Vectors of the last word."""
        return self.size - _WORD * (self.words - 1)

    @property
    def has_product_loop(self) -> bool:
        """There is an assembly loop for the products of two pixels on cores with DSP."""
        return self.lanes == 2 and self.group == 8

    @property
    def has_pair_loop(self) -> bool:
        """There is one on Armv7-M, too."""
        return self.has_product_loop and self.shift <= _HALF_SHIFT

    @property
    def packs(self) -> bool:
        """Cores with DSP multiply two pixels at a time, and build two columns in one call."""
        is_narrow = self.bits is not None and self.bits <= _PACKED_BITS
        fits = is_narrow and self.zero_is_min and self.right <= _HALF_SHIFT
        has_loop = self.kind is ResponseKind.MULTIPLY and self.has_product_loop
        return has_loop and fits and self.row_columns >= 2

    @property
    def packed_words(self) -> int:
        """Words of the pool as EDGEC_POOL_PACKED reads it."""
        return _PACKED_WORDS * self.size

    @property
    def packed_start(self) -> int:
        """Initial value of packed sums: half a unit and the bias, in lanes of 12 bits."""
        return (((1 << self.right) >> 1) + (128 << (self.bits or 0))) * 0x1001

    @property
    def columns(self) -> int:
        """Columns that one call builds."""
        return 2 if self.packs else 1

    @property
    def lone_columns(self) -> int:
        """Columns that a call of the function for rows with one lane builds; 0: there is none."""
        if not self.has_lone_rows or self.lanes == 1 or self.packs:
            return 0
        if self.kind is ResponseKind.MULTIPLY:
            return 2 if self.has_product_loop and self.row_columns >= 2 else 0
        return 0 if self.bits is None else 1

    @property
    def word_bias(self) -> int:
        """Bias of the responses in a table word, EDGEC_POOL_WORD_BIAS of the C header."""
        return (_SUM_BIAS >> self.shift) * 0x10001 if self.lanes == 2 else 0

    @property
    def unrolled(self) -> int:
        """Vectors that the loop of products does in one pass."""
        return math.gcd(self.size, _UNROLLED)

    @property
    def least_unrolled(self) -> int:
        """Vectors that the loop for rows with one lane does in one pass."""
        return math.gcd(self.size, _UNROLLED // 2)

    @property
    def right(self) -> int:
        """Shift of a sum of planes to the right; only with `bits`."""
        return max(self.shift - 8 + (self.bits or 0), 0)

    @property
    def left(self) -> int:
        """Shift of a sum of planes to the left; only with `bits`."""
        return max(8 - (self.bits or 0) - self.shift, 0)

    @property
    def has_blocks(self) -> bool:
        """Armv7-M assembly adds up rows, sixteen vectors at a time."""
        return self.parts == 1 and self.size % (4 * _WORD) == 0

    @property
    def has_writer(self) -> bool:
        """Armv7-M assembly writes the table words of two pixels, sixteen vectors at a time."""
        lanes_hold = self.bits is not None and self.right <= _HALF_SHIFT
        return self.lanes == 2 and self.zero_is_min and self.has_blocks and lanes_hold

    @property
    def part(self) -> int:
        """Channels whose bits make up an index of the look-up table."""
        return part_channels(self.kind, self.group)

    @property
    def parts(self) -> int:
        """Rows that are added per plane."""
        return self.group // self.part

    @property
    def planes(self) -> int:
        """Most planes of bits that the function looks up."""
        return _CODE_BITS if self.bits is None else self.bits

    # ---- What the template writes out ----

    @property
    def runtime_bits(self) -> bool:
        """The width of activations is an argument of the function."""
        return self.bits is None

    @property
    def drop(self) -> int:
        """Low bits of a code that are rounded away; with a width chosen at run time, none here."""
        return _CODE_BITS - self.planes

    @property
    def multiplies(self) -> bool:
        """Responses are products with the pool."""
        return self.kind is ResponseKind.MULTIPLY

    @property
    def pixels(self) -> tuple[str, ...]:
        """Names of the pixels of a table word."""
        return ("a", "b")[: self.lanes]

    @property
    def codes(self) -> tuple[tuple[Code, ...], ...]:
        """The codes of a group, word by word, in the order of the pool's weights."""
        return codes_by_word(self.group)

    @property
    def weight_pairs(self) -> tuple[tuple[int, int], ...]:
        """The codes that meet the two weights of each word of a vector."""
        return weight_pairs(self.group)

    @property
    def code_pairs(self) -> tuple[CodePair, ...]:
        """The words of codes that make up plane words."""
        return code_pairs(self.group)

    @property
    def plane_words(self) -> int:
        """Words that hold the bit planes of a group."""
        return 2 * len(self.code_pairs)

    @property
    def rows(self) -> tuple[PlaneRow, ...]:
        """The rows of the look-up table of a pixel, the lowest plane first."""
        return plane_rows(range(self.drop, _CODE_BITS), self.part, self.parts)

    @property
    def rows_downwards(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the rows of each plane, the highest plane first."""
        return numbers_by_plane(self.planes, self.parts)[::-1]

    @property
    def part_mask(self) -> int:
        """The bits of an index of the look-up table."""
        return (1 << self.part) - 1

    @property
    def vectors(self) -> tuple[TableVector, ...]:
        """The vectors of a word of sums."""
        return table_vectors(self.tail)


def part_channels(kind: ResponseKind, group: int) -> int:
    """Channels whose bits make up an index of the look-up table."""
    return 4 if kind is ResponseKind.NIBBLE else min(group, 8)


def table_words(kind: ResponseKind, size: int, group: int) -> int:
    """Words of `response_table`."""
    if kind is ResponseKind.MULTIPLY:
        return size * group // 2
    part = part_channels(kind, group)
    return (group // part << part) * -(-size // _WORD)


def response_table(pool: WeightPool, kind: ResponseKind) -> Array:
    """The table of `kind`: uint32 words, flat; the first number of a word in its low bits.

    multiply: int16 [S, G], of every four weights the order 0, 2, 1, 3 (what UXTB16 gives).
    bitserial, nibble: uint8 [parts, 2**part, S rounded up to 4]: sums of the weights whose bit
    is set in the row's number, weight 0 in bit 0, and an offset of each vector and part.  The
    offsets of a vector sum up to 128, and no byte of the sum of the rows of all parts overflows:
    the positive weights of a vector sum up to at most 127, the negative ones to at least -128.
    """
    if kind is ResponseKind.MULTIPLY:
        ordered = pool.vectors.reshape(pool.size, -1, 4)[:, :, [0, 2, 1, 3]]
        return _words(ordered.astype("<i2"))
    part = part_channels(kind, pool.group)
    weights = pool.vectors.astype(np.int64).reshape(pool.size, -1, part)
    patterns = np.arange(1 << part)[:, None] >> np.arange(part) & 1
    sums = np.einsum("rj,spj->prs", patterns, weights)
    offsets = -np.minimum(weights, 0).sum(-1)
    offsets[:, 0] += _BIAS - offsets.sum(-1)
    return _words(_padded(sums + offsets.T[:, None, :]).astype("u1"))


def response_sums(pool: WeightPool) -> Array:
    """Sum of the weights of each vector, in the lanes of a look-up kernel: uint32, flat.

    Two words for every four vectors: vectors 0 and 2, then 1 and 3, as ``low + 65536 * high``
    mod 2^32.
    """
    sums = _padded(pool.vectors.astype(np.int64).sum(1)).reshape(-1, 2, 2)
    words = (sums[:, 0] + (sums[:, 1] << 16)) & _WORD_MASK
    return np.asarray(words.astype(np.uint32).reshape(-1))


def _padded(rows: Array) -> Array:
    """`rows` [..., S] with zeros up to a multiple of four."""
    missing = -rows.shape[-1] % _WORD
    return np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, missing)])


def _words(array: Array) -> Array:
    """The bytes of a little-endian array as words."""
    return np.ascontiguousarray(array).view("<u4").reshape(-1).astype(np.uint32)
