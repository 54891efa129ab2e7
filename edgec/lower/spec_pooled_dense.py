"""Specifications of pooled kernels without a table of responses.

`PooledDecode` expands indices to int8 and is a plain convolution from there on, `PooledDecodeDsp`
likewise that of cores with the DSP extension.  `PooledDirect` looks every weight vector up, bit
plane by bit plane: the form of Li & Gupta (MLSys 2022).

Both serve convolutions of one group and matrix products; those have a window of 1x1 over an image
of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from edgec.lower.dense_weights import FILTERS, QUAD
from edgec.lower.pool_tables import ResponseKind, part_channels
from edgec.lower.pool_unrolled import (
    CodePair,
    PlaneRow,
    code_pairs,
    numbers_by_plane,
    plane_rows,
)
from edgec.lower.spec_base import describe_image, describe_window
from edgec.lower.spec_dense_dsp import DenseDsp
from edgec.lower.spec_narrow import Narrow
from edgec.lower.window import Window

_CODE_BITS = 8
_WORD_BYTES = 4
BLOCK = 4
"""Output channels computed together, so that a loaded activation is used several times."""


@dataclass(frozen=True, slots=True)
class _PooledDense:
    """What all have.

    x int8 [height, width, channels], y int8 [out_height, out_width, out_channels].  Biases int32
    [out_channels] hold the constant part of the sums; with a width chosen at run time they are
    [2, out_channels]: the plain biases, then the sum of each filter's weights.

    Attributes:
        window: geometry.
        out_channels: filters.
        group: weights of a vector.
        index_bits: of a stored index.
        bits: width of activations; None: an argument of the kernel.
        shift: of the requantization.
        residual_shift: of the addition at the end; None: there is no addition.
        narrow: the end in a transformer's arithmetic, which then replaces both.
    """

    window: Window
    out_channels: int
    group: int
    index_bits: int
    bits: int | None
    shift: int
    residual_shift: int | None
    narrow: Narrow | None = field(default=None, kw_only=True)

    @property
    def runtime_bits(self) -> bool:
        """The width of activations is an argument of the kernel."""
        return self.bits is None

    @property
    def vectors(self) -> int:
        """Vectors of a tap."""
        return -(-self.window.channels // self.group)

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.window.out_pixels * self.out_channels

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the operator that one call stands for."""
        return self.out_elements * self.window.taps * self.window.channels

    def _describe(self, how: str) -> str:
        w = self.window
        x = describe_image(w.height, w.width, w.channels)
        y = describe_image(w.out_height, w.out_width, self.out_channels)
        return f"Pooled convolution {x} to {y}, {describe_window(w)}, {how}"


@dataclass(frozen=True, slots=True)
class _Decoded(_PooledDense):
    """What kernels have that expand vectors to weights.

    Attributes:
        batch: filters expanded at a time.
    """

    batch: int

    @property
    def rounds(self) -> bool:
        """Activations may have to be rounded."""
        return self.bits != 8

    @property
    def drop(self) -> int:
        """Low bits of a code that are rounded away; with a width chosen at run time, none here."""
        return 0 if self.bits is None else _CODE_BITS - self.bits

    @property
    def full(self) -> int:
        """Vectors of a tap that are used in whole."""
        return self.window.channels // self.group

    @property
    def last(self) -> int:
        """Weights of another vector of a tap, used in part."""
        return self.window.channels % self.group


@dataclass(frozen=True, slots=True)
class PooledDecode(_Decoded):
    """Expands the indices of a batch of filters, then computes their outputs for all pixels.

    Indices are stored as [filter, tap, vector].

    Attributes:
        batch: filters expanded at a time; a multiple of `block`, or all.
    """

    family: ClassVar[str] = "pooled_decode"

    @property
    def depth(self) -> int:
        """Weights of one filter."""
        return self.window.taps * self.window.channels

    @property
    def block(self) -> int:
        """Filters computed together."""
        return min(BLOCK, self.out_channels)

    @property
    def rest(self) -> int:
        """Filters that are left after the last full block."""
        return self.out_channels % self.block

    @property
    def reads_rows(self) -> bool:
        """What a filter meets lies in x as one row; else it is gathered."""
        return self.window.is_pointwise or self.window.is_whole_image

    @property
    def copies_runs(self) -> bool:
        """The window is gathered row by row; else tap by tap."""
        return self.window.columns_are_runs

    @property
    def needs_patch(self) -> bool:
        """What a filter meets is copied first."""
        return self.rounds or not self.reads_rows

    @property
    def biases_bytes(self) -> int:
        """int32 [batch] at the start of the scratch memory: the constant part of the sums."""
        return _WORD_BYTES * self.batch if self.runtime_bits else 0

    @property
    def patch_words(self) -> int:
        """Words of the patch."""
        return -(-self.depth // _WORD_BYTES)

    @property
    def patch_start(self) -> int:
        """Place of the patch, behind the biases and the expanded filters int8 [batch, depth]."""
        filters = -(-self.batch * self.depth // _WORD_BYTES) * _WORD_BYTES
        return self.biases_bytes + filters

    @property
    def scratch_bytes(self) -> int:
        """Biases, filters and patch."""
        return self.patch_start + (_WORD_BYTES * self.patch_words if self.needs_patch else 0)

    def describe(self) -> str:
        """What the function computes, in words."""
        return self._describe(f"{self.batch} filters decoded at a time")


@dataclass(frozen=True, slots=True)
class VectorPart:
    """The first `weights` weights of a vector, put among those of two filters: `interleaved`.

    Attributes:
        weights: a multiple of 4.
    """

    weights: int

    @property
    def quads(self) -> tuple[tuple[int, int], ...]:
        """(bytes from the first weight of the filter, bytes from the first one of the vector)."""
        return tuple((FILTERS * first, first) for first in range(0, self.weights, QUAD))

    @property
    def step(self) -> int:
        """Bytes that the weights of both filters take."""
        return FILTERS * self.weights


@dataclass(frozen=True, slots=True)
class PooledDecodeDsp(_Decoded):
    """`PooledDecode` into the order of weights of `DenseDsp`, and from there on like that one.

    Input channels are a multiple of 4.  Indices are stored as [filter, tap, vector].

    Attributes:
        batch: filters expanded at a time; a multiple of 2, or all.
    """

    family: ClassVar[str] = "pooled_decode_dsp"

    @property
    def dense(self) -> DenseDsp:
        """The loops; the scratch memory begins with theirs."""
        return DenseDsp(self.window, self.out_channels, self.shift)

    @property
    def whole_vector(self) -> VectorPart:
        """What is copied of a vector that is used in whole."""
        return VectorPart(self.group)

    @property
    def last_vector(self) -> VectorPart:
        """What is copied of the last vector of a tap, if it is used in part."""
        return VectorPart(self.last)

    @property
    def has_gaps(self) -> bool:
        """There are weights that no vector gives."""
        return self.dense.pads_depth or self.dense.odd

    @property
    def filters_start(self) -> int:
        """Place of the expanded filters int8 [batch / 2, quads, 2, 4], behind the windows."""
        return self.dense.scratch_bytes

    @property
    def filters_bytes(self) -> int:
        """The expanded filters."""
        return -(-self.batch // FILTERS) * FILTERS * QUAD * self.dense.quads

    @property
    def biases_start(self) -> int:
        """Place of the constant part of the sums, int32 [batch]."""
        return self.filters_start + self.filters_bytes

    @property
    def scratch_bytes(self) -> int:
        """Windows, filters and biases."""
        return self.biases_start + (_WORD_BYTES * self.batch if self.runtime_bits else 0)

    def describe(self) -> str:
        """What the function computes, in words."""
        return self._describe(f"{self.batch} filters decoded at a time, three pixels at a time")


@dataclass(frozen=True, slots=True)
class PooledDirect(_PooledDense):
    """Looks up, for each filter, vector and bit plane, the sum of the weights whose bit is set.

    A vector's bit planes are found once for all filters; so indices are stored as [tap, vector,
    filter].

    Attributes:
        pool_size: vectors of the pool.
        builder: whose look-up table it is, `BITSERIAL` or `NIBBLE`.
    """

    family: ClassVar[str] = "pooled_direct"
    pool_size: int
    builder: ResponseKind

    @property
    def part(self) -> int:
        """Channels whose bits make up the number of a row of the table."""
        return part_channels(self.builder, self.group)

    @property
    def parts(self) -> int:
        """Look-ups for one vector and bit plane."""
        return self.group // self.part

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of the table."""
        return -(-self.pool_size // _WORD_BYTES) * _WORD_BYTES

    @property
    def planes(self) -> int:
        """Most bit planes that are looked up."""
        return _CODE_BITS if self.bits is None else self.bits

    @property
    def code_words(self) -> tuple[CodePair, ...]:
        """The words of codes whose bit planes are found together."""
        return code_pairs(self.group)

    @property
    def rows(self) -> tuple[PlaneRow, ...]:
        """The rows of the look-up table of a vector, the highest plane first."""
        last = _CODE_BITS - 1
        return plane_rows(range(last, last - self.planes, -1), self.part, self.parts)

    @property
    def rows_by_plane(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the rows of each plane."""
        return numbers_by_plane(self.planes, self.parts)

    @property
    def part_mask(self) -> int:
        """The bits of the number of a row."""
        return (1 << self.part) - 1

    @property
    def look_ups(self) -> int:
        """Vectors of a filter."""
        return self.window.taps * self.vectors

    @property
    def unpacks(self) -> bool:
        """Indices are expanded to bytes in scratch memory first."""
        return self.index_bits != 8

    @property
    def indices_start(self) -> int:
        """Place of the expanded indices, behind the sums uint32 [out_channels]."""
        return _WORD_BYTES * self.out_channels

    @property
    def scratch_bytes(self) -> int:
        """Sums and indices."""
        return self.indices_start + (self.out_channels * self.look_ups if self.unpacks else 0)

    def describe(self) -> str:
        """What the function computes, in words."""
        return self._describe("looked up bit by bit")
