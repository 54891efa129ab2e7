"""Convolutions and matrix products in tiles of some rows by some filters: where their rows are.

The rows of a tile are runs of memory, read in vectors: x itself, copied rows of an image, padding
included, in which windows lie, or windows that are gathered (`_tiled.c.j2`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array
from edgec.kernels.common.dense import Dense
from edgec.kernels.common.form_ends import TypedEnd
from edgec.kernels.common.overlap import by_blocks, pixel_distance, with_ending
from edgec.kernels.common.window import Window
from edgec.kernels.family import Distances
from edgec.kernels.neon.layer import HALF, WIDE, Block, NeonLayer
from edgec.kernels.neon.strip import Strip

_COPY = 14
"""Instructions that finding and copying a row of x, or a tap of a window, takes, about."""
_LINE = 12
"""Instructions of a run of a tile, besides those for its values, about."""


@dataclass(frozen=True, slots=True)
class TiledDense(Dense, NeonLayer, ABC):
    """Convolution of one group, or matrix product, `tile_rows` by some filters at a time.

    x int8 or int16 [height, width, channels], y [out_height, out_width, out_channels].

    Attributes:
        tile_rows: rows whose sums are computed together.
        splits: the two bytes of an int16 are read from planes of their own.
        alignment: rows of x whose depth is a multiple of it are read where they are; 0: none.
    """

    tile_rows: ClassVar[int]
    splits: ClassVar[bool] = False
    alignment: ClassVar[int] = 0
    full_range: bool = field(default=False, metadata=LATER)
    typed: TypedEnd | None = field(default=None, metadata=LATER)

    @property
    @abstractmethod
    def lanes(self) -> int:
        """Filters whose sums are computed together."""

    @abstractmethod
    def run_instructions(self, run: int) -> int:
        """Instructions of a tile that reads a run of values."""

    @property
    def read_bytes(self) -> int:
        """Bytes of an element of x."""
        return self.x_dtype.size_bytes

    @property
    def kept_bytes(self) -> int:
        """Bytes of an element of a copied row or window, in each plane."""
        return 1 if self.splits else self.read_bytes

    @property
    def plane_pixel(self) -> str:
        """C expression of the bytes of a pixel of x, in each plane."""
        return "CHANNELS" if self.kept_bytes == 1 else f"CHANNELS * {self.kept_bytes}"

    @property
    def is_product(self) -> bool:
        """A row of y needs one row of x."""
        return self.window.is_pointwise

    @property
    def reads_image(self) -> bool:
        """Rows of x are read where they are."""
        return self.is_product and self.alignment > 0 and self.depth % self.alignment == 0

    @property
    def reads_strip(self) -> bool:
        """Windows are read where they are in copied rows of x; else they are gathered.

        A row of a window is one run of these, of which the last vector may hold more than that.
        """
        w = self.window
        if w.dilation_w > 1 or self.is_product or self.is_single:
            return False
        filters = -(-self.out_channels // self.lanes)
        tiles = w.out_height * -(-w.out_width // self.tile_rows)
        run = w.kernel_w * w.channels
        in_rows = tiles * filters * w.kernel_h * self.run_instructions(run)
        at_once = -(-self.rows // self.tile_rows) * filters * self.run_instructions(self.depth)
        copied = (
            w.out_height * w.kernel_h * (2 * self.vectors(self.strip.width * w.channels) + _COPY)
        )
        if self.copies_runs and w.out_width > 1:
            gathered = copied + self.rows * w.kernel_h * (2 * self.vectors(run) + _LINE)
        else:
            gathered = self.rows * (w.taps * _COPY + 2 * self.vectors(self.depth))
        return in_rows + copied < at_once + gathered

    @property
    def gathers_strip(self) -> bool:
        """Windows are gathered from copied rows of x, padding included."""
        if self.is_product or self.reads_strip:
            return False
        return self.copies_runs and self.window.out_width > 1

    @property
    def rows_come(self) -> str:
        """Source of rows, unless `reads_strip`: x as it lies ("image"), copies of its
        rows ("product"), windows gathered from x ("gathered") or from copied rows ("strip").
        """
        if self.is_product:
            return "image" if self.reads_image else "product"
        return "strip" if self.gathers_strip else "gathered"

    @property
    def copies_rows(self) -> bool:
        """There are copied rows of x."""
        return self.reads_strip or self.gathers_strip

    @property
    def strip(self) -> Strip:
        """The rows of x that are copied."""
        return Strip(self.window, self.read_bytes, self.splits)

    @property
    def copies_runs(self) -> bool:
        """A window is gathered row by row; else tap by tap."""
        return self.window.columns_are_runs

    @property
    def lines(self) -> int:
        """Runs of memory of a window."""
        return self.window.kernel_h if self.reads_strip else 1

    @property
    def is_whole(self) -> bool:
        """All tiles have as many rows as are computed together."""
        return (self.window.out_width if self.reads_strip else self.rows) % len(self.together) == 0

    @property
    def pixel(self) -> int:
        """Bytes from a row of x, as it is read, to the next one."""
        if self.reads_strip:
            return self.window.stride_w * self.strip.pixel
        return self.depth * self.read_bytes if self.reads_image else self.window_bytes

    @property
    def window_bytes(self) -> int:
        """Bytes of a gathered window, of each plane: a multiple of 16."""
        return -(-self.depth * self.kept_bytes // WIDE) * WIDE

    @property
    def is_single(self) -> bool:
        """There is one row."""
        return self.rows == 1

    @property
    def together(self) -> range:
        """Numbers of the rows of a tile."""
        return range(1 if self.is_single else self.tile_rows)

    @property
    def counts(self) -> tuple[str, ...]:
        """C name of the number of rows of a tile; none where that is always the same."""
        return () if self.is_whole else ("count",)

    @property
    def places(self) -> tuple[str, ...]:
        """C expressions of the rows of a tile: their numbers, at most that of the last one."""
        if self.is_whole:
            return tuple(map(str, self.together))
        return tuple(f"edgec_min_s32(count - 1, {t})" for t in self.together)

    @property
    def full(self) -> int:
        """Filters in full blocks."""
        return self.out_channels // self.lanes * self.lanes

    @property
    def block(self) -> Block:
        """A full block of filters."""
        return Block(self.lanes, self.lanes)

    @property
    def rest(self) -> Block | None:
        """The filters after the last full block."""
        count = self.out_channels - self.full
        return Block(WIDE if count > HALF else HALF, count) if count else None

    @property
    def tiles(self) -> int:
        """Tiles of rows, each of which meets all filters."""
        w, rows = self.window, self.tile_rows
        return w.out_height * -(-w.out_width // rows) if self.reads_strip else -(-self.rows // rows)

    @property
    def extras(self) -> tuple[tuple[str, str], ...]:
        """Arguments of a tile's function besides parameters: C parameter and argument."""
        return self.tile_extras("added")

    @property
    def reads_padding(self) -> bool:
        """Copied rows or windows may hold padding, whose value is in the argument struct."""
        if self.is_product or self.reads_int16:
            return False
        clipped = self.window.rows_clipped or self.window.cols_clipped
        return self.copies_rows or clipped or not self.copies_runs

    @property
    def windows_at(self) -> int:
        """Place of gathered windows in scratch, after copied rows of x; a multiple of 16."""
        return -(-self.strip.size_bytes // WIDE) * WIDE if self.gathers_strip else 0

    @property
    def windows_plane(self) -> int:
        """Bytes of gathered windows, of each plane, and of what a vector writes beyond them."""
        if self.reads_image or self.reads_strip:
            return 0
        return len(self.together) * self.pixel + self.gathers_strip * WIDE

    @property
    def windows_bytes(self) -> int:
        """Bytes of gathered windows."""
        return self.windows_plane * (2 if self.splits else 1)

    @property
    def patch_at(self) -> int:
        """Place in scratch of a gathered window that is still to be split; a multiple of 16."""
        return self.windows_at + self.windows_bytes

    @property
    def splits_patch(self) -> bool:
        """Windows are gathered from x as a whole before they are split."""
        return self.splits and not self.reads_strip and self.rows_come == "gathered"

    @property
    def plane(self) -> int:
        """Bytes from a row of a tile in the first plane to the same row in the second one."""
        if not self.splits:
            return 0
        return self.strip.plane_bytes if self.reads_strip else self.windows_plane

    @property
    def rows_bytes(self) -> int:
        """Bytes of copied rows and of gathered windows."""
        if self.reads_strip:
            return self.strip.size_bytes
        return self.patch_at + (self.depth * self.read_bytes if self.splits_patch else 0)

    @property
    def added_at(self) -> int:
        """Place of the residual of a tile in scratch; a multiple of 16."""
        return -(-self.rows_bytes // WIDE) * WIDE

    @property
    def scratch_bytes(self) -> int:
        """Copied rows, and the residual of a tile.

        Some bytes where there are neither: the function has the argument in any case.
        """
        if not self.adds:
            return max(self.rows_bytes, WIDE)
        return self.added_at + (self.tile_rows * self.out_channels + self.lanes) * self.out_bytes

    def vectors(self, values: int) -> int:
        """Vectors of 16 bytes that hold the values in each plane, the last one filled up."""
        return -(-values * self.kept_bytes // WIDE)


def overlap(spec: TiledDense) -> Distances:
    """Windows of a tile, or of a row of an image, are copied before their outputs are written.

    Rows that are read where they are are read again for every block of filters.
    """
    written = spec.out_channels * spec.out_bytes
    w = _in_bytes(spec.window, spec.read_bytes)
    rows = len(spec.together)
    if not spec.reads_image:
        return with_ending(spec, by_blocks(w, written, w.out_width if spec.reads_strip else rows))
    if spec.out_channels <= spec.lanes:
        return with_ending(spec, by_blocks(w, written, rows))
    numbers = np.arange(spec.rows)
    ends = np.minimum(numbers - numbers % rows + rows - 1, spec.rows - 1)
    last = (math.ceil(spec.out_channels / spec.lanes) - 1) * spec.lanes * spec.out_bytes
    return with_ending(spec, pixel_distance(ends, written, w.channels) + last)


def copy_counts(spec: TiledDense) -> dict[str, float]:
    """Parts of a call that copy rows of x, and windows."""
    w = spec.window
    strip_rows = w.out_height * w.kernel_h if spec.copies_rows else 0
    windows = 0 if spec.reads_strip or spec.reads_image else spec.rows
    lines, place = w.kernel_h, "a copied row"
    if not spec.gathers_strip:
        lines, place = (w.kernel_h, "x") if spec.copies_runs else (w.taps, "x, by taps")
    return {
        "copied row": strip_rows,
        "vector of a copied row": strip_rows * spec.vectors(spec.strip.copied),
        "window": windows,
        f"part of a window from {place}": windows * lines,
        "vector of a window": windows * spec.vectors(spec.depth),
    }


def _in_bytes(window: Window, element_bytes: int) -> Window:
    """The window over an image of bytes."""
    return replace(window, channels=window.channels * element_bytes)


def padded(values: Array) -> Array:
    """One number a filter, zeros for those that are missing at the end; [O] to [multiple of 8]."""
    return np.pad(values, (0, -len(values) % HALF))
