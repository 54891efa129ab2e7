"""Specifications of the kernels for cores with NEON."""

from __future__ import annotations

from dataclasses import dataclass, field
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
_WORD_BYTES = 4
_SPARE_BYTES = 8
"""Four elements that may be loaded behind the last residual."""


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
    def tiles(self) -> tuple[int, ...]:
        """Pixels of the functions that are needed: a pixel that stands alone has its own."""
        alone = (1,) if self.variable or self.rows % ROWS == 1 else ()
        return ((ROWS,) if self.rows > 1 else ()) + alone

    @property
    def adds(self) -> bool:
        """There is a residual."""
        return self.residual_shift is not None or (self.narrow is not None and self.narrow.residual)

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
    variable: bool = field(default=False, repr=False)

    @property
    def x_type(self) -> str:
        """C type of an element of x."""
        return stored_type(self.dtype)

    @property
    def x_bytes(self) -> int:
        """Bytes of an element of x."""
        return self.dtype.size_bytes

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Rescaling of {self.count} elements from {self.dtype.value}, eight at a time"


@dataclass(frozen=True, slots=True)
class LutNeon(Lut):
    """`Lut` for A64, sixteen elements at a time: `edgec/neon_table.h`."""

    family: ClassVar[str] = "lut_neon"


@dataclass(frozen=True, slots=True)
class StreamAddNeon(Plain):
    """Sum of two int16 tensors of one shape, saturated, eight elements at a time.

    Attributes:
        count: elements.
        variable: the elements of a run are an argument.
    """

    family: ClassVar[str] = "stream_add_neon"
    count: int
    variable: bool = field(default=False, repr=False)

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Sum of two int16 tensors, {self.count} elements"
