"""Specifications of the kernels for cores with NEON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.lower.neon_weights import BLOCK_BYTES, LANES, ROWS, blocks_of, padded_rows
from edgec.lower.spec_base import Plain
from edgec.lower.spec_compute import Lut
from edgec.lower.spec_dense import Dense
from edgec.lower.spec_narrow import Narrow, stored_type
from edgec.lower.spec_transformer import Attention, Norm

COLUMNS = 8
"""Columns of values, and logits, that are worked on together."""
_NEAR_SHIFT = 32
"""Largest shift of one instruction that narrows 64 bits to 32 (Arm A64 ISA, SQRSHRN)."""
_TABLE_COLUMNS = 16
"""Elements that are looked up together."""
_WORD_BYTES = 4
_SPARE_BYTES = 8
"""Four elements that may be loaded behind the last residual."""


@dataclass(frozen=True, slots=True)
class TilePixel:
    """A pixel whose codes are in one half of a vector of eight.

    Attributes:
        number: of the pixel in its tile.
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
    """Pixels whose codes are stored from one vector: two, or one twice."""

    pixels: tuple[TilePixel, ...]

    @property
    def first(self) -> TilePixel:
        """The pixel in the low half."""
        return self.pixels[0]

    @property
    def last(self) -> TilePixel:
        """The pixel in the high half."""
        return self.pixels[-1]


@dataclass(frozen=True, slots=True)
class Tile:
    """Pixels whose sums with four filters one function computes: four, or one."""

    pixels: int

    @property
    def is_single(self) -> bool:
        """It is one pixel."""
        return self.pixels == 1

    @property
    def others(self) -> range:
        """The pixels after the first one."""
        return range(1, self.pixels)

    @property
    def pairs(self) -> tuple[TilePair, ...]:
        """The pixels, two by two."""
        numbers = range(self.pixels)
        halves = (numbers[first : first + 2] for first in numbers[::2])
        return tuple(
            TilePair(tuple(TilePixel(number, half) for half, number in enumerate(pair)))
            for pair in halves
        )


@dataclass(frozen=True, slots=True)
class DenseNeon(Dense):
    """Convolution of one group, or matrix product, four pixels by four filters at a time.

    x int8 [height, width, channels], weights without -128 as `neon_weights.packed` gives them, y
    [out_height, out_width, out_channels].
    """

    family: ClassVar[str] = "dense_neon"

    @property
    def blocks(self) -> int:
        """Blocks of 16 weights of a filter."""
        return blocks_of(self.depth)

    @property
    def pads_depth(self) -> bool:
        """The last block holds more than weights."""
        return self.depth % LANES > 0

    @property
    def is_product(self) -> bool:
        """The window of a pixel is the pixel; else windows are gathered before they are packed."""
        return self.window.is_pointwise

    @property
    def copies_runs(self) -> bool:
        """The window is gathered row by row; else tap by tap."""
        return self.window.columns_are_runs

    @property
    def rest(self) -> int:
        """Filters behind the last full block."""
        return self.out_channels % ROWS

    @property
    def last_block(self) -> int:
        """Number of the last block of weights of a filter."""
        return self.blocks - 1

    @property
    def shifts_far(self) -> bool:
        """The requantization shifts by more than one narrowing instruction can."""
        return self.shift > _NEAR_SHIFT

    @property
    def tile(self) -> Tile | None:
        """What the function for four pixels works on; None: it is not needed."""
        return Tile(ROWS) if self.rows > 1 else None

    @property
    def single(self) -> Tile | None:
        """What the function for a pixel that stands alone works on; None: it is not needed."""
        return Tile(1) if self.variable or self.rows % ROWS == 1 else None

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """Those of the functions that are needed."""
        return tuple(tile for tile in (self.tile, self.single) if tile is not None)

    @property
    def patch_at(self) -> int:
        """Place of a gathered window in scratch, in bytes, behind four packed ones."""
        return self.blocks * BLOCK_BYTES

    @property
    def added_at(self) -> int:
        """Place of the residual of four pixels; a multiple of 16."""
        return self.patch_at + (0 if self.is_product else self.blocks * LANES)

    @property
    def scratch_bytes(self) -> int:
        """Four packed windows, one that is not, and the residual of four pixels."""
        if not self.adds:
            return self.added_at
        element = 1 if self.narrow is None else self.narrow.out_bytes
        return self.added_at + ROWS * self.out_channels * element + _SPARE_BYTES

    def describe(self) -> str:
        """What the function computes, in words."""
        return self._described("four")


@dataclass(frozen=True, slots=True)
class AttentionNeon(Attention):
    """`Attention` for cores with NEON, four queries at a time: `edgec/neon_attention.h`.

    Of a product of q and k, one factor is never -128.
    """

    family: ClassVar[str] = "attention_neon"

    @property
    def blocks(self) -> int:
        """Blocks of 16 columns of a query or key."""
        return blocks_of(self.q.width)

    @property
    def pads_width(self) -> bool:
        """The last block holds more than columns."""
        return self.q.width % LANES > 0

    @property
    def row(self) -> int:
        """Logits between two queries: a multiple of eight."""
        return -(-self.keys // COLUMNS) * COLUMNS

    @property
    def keys_at(self) -> int:
        """Place of the packed keys in scratch, in bytes, behind four packed queries."""
        return self.blocks * BLOCK_BYTES

    @property
    def values_at(self) -> int:
        """Place of the packed values, int16."""
        return self.keys_at + padded_rows(self.keys) * self.blocks * LANES

    @property
    def logits_at(self) -> int:
        """Place of the logits of four queries."""
        columns = -(-self.v.width // COLUMNS) * COLUMNS
        return self.values_at + 2 * padded_rows(self.keys) * columns

    @property
    def valid_at(self) -> int:
        """Place of the mask as int16."""
        return self.logits_at + ROWS * self.row * _WORD_BYTES

    @property
    def scratch_bytes(self) -> int:
        """Four queries, the keys and values of a head, four rows of logits, and the mask."""
        return self.valid_at + (0 if self.mask_stride is None else 2 * self.row)

    def describe(self) -> str:
        """What the function computes, in words."""
        heads = f"{self.heads} heads, four queries at a time"
        return f"Attention of {self.queries} queries to {self.keys} keys, {heads}"


@dataclass(frozen=True, slots=True)
class NormNeon(Norm):
    """`Norm` for cores with NEON, eight elements at a time: `edgec/neon_norm.h`."""

    family: ClassVar[str] = "norm_neon"

    @property
    def out_bytes(self) -> int:
        """Bytes of an output."""
        return self.dtype.size_bytes

    @property
    def has_rest(self) -> bool:
        """Elements of a row are left after the last full vector."""
        return self.channels % COLUMNS > 0


@dataclass(frozen=True, slots=True)
class RescaleNeon(Plain):
    """Requantization of single elements of one scale, eight at a time.

    Attributes:
        count: elements.
        dtype: of x, INT8 or INT16.
        narrow: how an element is stored.
        variable: the elements of a run are an argument.
    """

    family: ClassVar[str] = "rescale_neon"
    count: int
    dtype: DType
    narrow: Narrow
    variable: bool = False

    @property
    def x_type(self) -> str:
        """C type of an element of x."""
        return stored_type(self.dtype)

    @property
    def x_bytes(self) -> int:
        """Bytes of an element of x."""
        return self.dtype.size_bytes

    @property
    def has_rest(self) -> bool:
        """Elements are left after the last full vector, or may be."""
        return self.variable or self.count % COLUMNS > 0

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Rescaling of {self.count} elements from {self.dtype.value}, eight at a time"


@dataclass(frozen=True, slots=True)
class LutNeon(Lut):
    """`Lut` for A64, sixteen elements at a time: `edgec/neon_table.h`."""

    family: ClassVar[str] = "lut_neon"

    @property
    def has_rest(self) -> bool:
        """Elements are left after the last full vector, or may be."""
        return self.variable or self.count % _TABLE_COLUMNS > 0


@dataclass(frozen=True, slots=True)
class StreamAddNeon(Plain):
    """Sum of two int16 tensors of one shape, saturated, eight elements at a time.

    Attributes:
        count: elements.
        variable: the elements of a run are an argument.
    """

    family: ClassVar[str] = "stream_add_neon"
    count: int
    variable: bool = False

    @property
    def has_rest(self) -> bool:
        """Elements are left after the last full vector, or may be."""
        return self.variable or self.count % COLUMNS > 0

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Sum of two int16 tensors, {self.count} elements"
