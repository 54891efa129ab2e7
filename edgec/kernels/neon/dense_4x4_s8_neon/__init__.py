"""Convolutions and matrix products on cores with NEON: four rows by four filters."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MIN
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.dense import Dense
from edgec.kernels.common.form_ends import TypedEnd
from edgec.kernels.common.layer_end import end_of, typed_end
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.overlap import by_blocks, with_ending
from edgec.kernels.common.parts import Parts, Run
from edgec.kernels.common.weighted import CONVOLUTIONS, MATRIX_PRODUCTS, weighted_arguments
from edgec.kernels.common.window import Window, dense_window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.neon.dense_4x4_s8_neon.tile import Tile
from edgec.kernels.neon.layer import NeonLayer, has_full_range, reads_int8
from edgec.kernels.neon.pairs import (
    MOST_PLACES,
    order_step,
    orders_bytes,
    packed_pairs,
    pairs_of,
    pays,
    places_of,
)
from edgec.kernels.neon.strip import Strip
from edgec.kernels.neon.weights import (
    BLOCK_BYTES,
    LANES,
    ROWS,
    blocks_of,
    packed,
    padded,
    padded_rows,
)
from edgec.target.target import Target

_SPARE_BYTES = 8
"""Four elements that may be loaded after the last residual."""

_MOST_UNROLLED = 40
"""Vectors of a window whose copies stand one after the other."""


@dataclass(frozen=True, slots=True)
class Dense4x4(Dense, NeonLayer):
    """Convolution of one group, or matrix product, four rows by four filters at a time.

    x int8 [height, width, channels], weights without -128 as `weights.packed` gives them, or with
    `paired` as `pairs.packed_pairs`, y [out_height, out_width, out_channels].

    Attributes:
        paired: blocks come in an order of their own for every four filters, and products of two of
            them are added up in 16 bits.
    """

    family: ClassVar[str] = "dense_4x4_s8_neon"
    template: ClassVar[Path] = template_beside(__file__, "dense_4x4_s8_neon")
    paired: bool = field(default=False, metadata=LATER)
    full_range: bool = field(default=False, metadata=LATER)
    typed: TypedEnd | None = field(default=None, metadata=LATER)

    @property
    def blocks(self) -> int:
        """Blocks of 16 weights of a filter."""
        return blocks_of(self.depth)

    @property
    def stored_bytes(self) -> int:
        """Bytes of the weights in the kernel's order, without the orders of blocks."""
        return padded_rows(self.out_channels) * self.blocks * LANES

    def with_weights_alone(self) -> Dense4x4:
        """The specification of a kernel that reads no orders of blocks."""
        return replace(self, paired=False)

    @property
    def orders_bytes(self) -> int:
        """Bytes of the orders of blocks before the weights."""
        return orders_bytes(self.out_channels, self.depth) if self.paired else 0

    @property
    def order_step(self) -> int:
        """Bytes from the order of four filters to that of the next four."""
        return order_step(self.depth)

    @property
    def pads_depth(self) -> bool:
        """The last block holds more than weights."""
        return self.depth % LANES > 0

    @property
    def is_product(self) -> bool:
        """A row of y needs one row of x; else windows are gathered before they are packed."""
        return self.window.is_pointwise

    @property
    def copies_runs(self) -> bool:
        """The window is gathered row by row; else tap by tap."""
        return self.window.columns_are_runs

    @property
    def reads_strip(self) -> bool:
        """Windows are gathered from copied rows of x, padding included."""
        return not self.is_product and self.copies_runs and self.window.out_width > 1

    @property
    def strip(self) -> Strip:
        """The rows of x that are copied."""
        return Strip(self.window)

    @property
    def run(self) -> int:
        """Values of a row of a window."""
        return self.window.kernel_w * self.window.channels

    @property
    def reads_in_place(self) -> bool:
        """Rows are read where they are in copied rows of x: a block of four neighbours is packed
        there.
        """
        return self.paired and _has_packed_strip(self.window)

    @property
    def rows_come(self) -> str:
        """Source of packed rows: rows of x ("product"), windows gathered from x ("gathered")
        or from copied rows ("strip"), or such rows themselves ("in place").
        """
        if self.is_product:
            return "product"
        if self.reads_in_place:
            return "in place"
        return "strip" if self.reads_strip else "gathered"

    @property
    def places(self) -> Array:
        """The place of each block of a row, in sixteens of bytes from the first one."""
        if not self.reads_in_place:
            return places_of(self.depth)
        return _places_in_strip(self.window)

    @property
    def packs_runs(self) -> bool:
        """Rows of windows are whole blocks, which are packed one by one."""
        return self.reads_strip and self.run % LANES == 0

    @property
    def rest(self) -> int:
        """Filters after the last full block."""
        return self.out_channels % ROWS

    @property
    def last_block(self) -> int:
        """Number of the last block of weights of a filter."""
        return self.blocks - 1

    @property
    def reads_padding(self) -> bool:
        """Gathered windows may hold padding, whose value is in the argument struct."""
        clipped = self.window.rows_clipped or self.window.cols_clipped
        return self.reads_strip or clipped or not self.copies_runs

    @property
    def extras(self) -> tuple[tuple[str, str], ...]:
        """Arguments of a tile's function besides parameters: C parameter and argument."""
        return self.tile_extras("extra")

    @property
    def tile(self) -> Tile | None:
        """Tile of the function for four rows; None: it is not needed."""
        return Tile(ROWS) if self.rows > 1 else None

    @property
    def single(self) -> Tile | None:
        """Tile of the function for a row that stands alone; None: it is not needed."""
        return Tile(1) if self.variable or self.rows % ROWS == 1 else None

    @property
    def has_both(self) -> bool:
        """There are blocks of four rows and rows that stand alone."""
        return self.tile is not None and self.single is not None

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """Tiles of the functions that are needed."""
        return tuple(tile for tile in (self.tile, self.single) if tile is not None)

    @property
    def unrolls(self) -> bool:
        """The rows of a window are copied one by one, and not in a loop."""
        return self.window.kernel_h * blocks_of(self.run) <= _MOST_UNROLLED

    @property
    def packed_at(self) -> int:
        """Place of four packed windows in scratch, after copied rows of x; a multiple of 16."""
        return -(-self.strip.size_bytes // LANES) * LANES if self.reads_strip else 0

    @property
    def patch_at(self) -> int:
        """Place of a gathered window in scratch, in bytes, after four packed ones."""
        return self.packed_at + (0 if self.reads_in_place else self.blocks * BLOCK_BYTES)

    @property
    def patch_bytes(self) -> int:
        """Bytes of a gathered window, and of what a vector writes beyond it; a multiple of 16."""
        if self.is_product or self.packs_runs or self.reads_in_place:
            return 0
        return (self.blocks + self.reads_strip) * LANES

    @property
    def added_at(self) -> int:
        """Place of the residual of four rows; a multiple of 16."""
        return self.patch_at + self.patch_bytes

    @property
    def scratch_bytes(self) -> int:
        """Copied rows, four packed windows, one that is not, and the residual of four rows."""
        if not self.adds:
            return self.added_at
        element = self.out_bytes
        return self.added_at + ROWS * self.out_channels * element + _SPARE_BYTES

    def describe(self) -> str:
        """Operator, shapes and blocking in words, for a comment in C."""
        return self._described("four")


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A convolution of one group or a matrix product, no weight being -128."""
    if not target.has_neon or getattr(node.attrs, "group", 1) != 1:
        return False
    return int(graph.constants[plain_inputs(node).w].array.min(initial=0)) > INT8_MIN


def spec(graph: Graph, node: Node, target: Target) -> Dense4x4:
    """The specification for a convolution of one group or a matrix product, of either form."""
    weights, window = graph.constants[plain_inputs(node).w].array, dense_window(graph, node)
    paired = target.is_aarch64 and (
        _has_packed_strip(window) or (_fits(places_of(weights[0].size)) and pays(pairs_of(weights)))
    )
    return Dense4x4(
        window,
        len(weights),
        *end_of(graph, node),
        paired=paired,
        full_range=has_full_range(node),
        typed=typed_end(graph, node),
    )


def _has_packed_strip(window: Window) -> bool:
    """Four neighbouring pixels of copied rows are a packed block, whichever is the first."""
    w = window
    neighbours = w.channels == LANES and w.stride_w == 1 and w.dilation_w == 1
    rows = w.out_width % ROWS == 0 and w.taps > 1
    return neighbours and rows and _fits(_places_in_strip(w))


def _places_in_strip(window: Window) -> Array:
    """The places of the channels of each tap, from the first pixel of a window in copied rows."""
    rows = np.arange(window.kernel_h) * Strip(window).width
    return np.asarray(np.add.outer(rows, np.arange(window.kernel_w)).ravel())


def _fits(places: Array) -> bool:
    return int(places[-1]) < MOST_PLACES


def overlap(spec: Dense4x4) -> Distances:
    """The windows of four rows are read before the first of them is written."""
    return with_ending(spec, by_blocks(spec.window, spec.out_channels * spec.out_bytes, ROWS))


def arguments(graph: Graph, node: Node, spec: Dense4x4, pool: ConstantPool) -> tuple[Params, ...]:
    """Filters four by four."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        if not spec.paired:
            return packed(weights), padded(bias), padded(multiplier)
        ordered = packed_pairs(weights, pairs_of(weights), spec.places)
        return ordered, padded(bias), padded(multiplier)

    return weighted_arguments(graph, node, pool, pack, pad=padded)


def parts(spec: Dense4x4, _run: Run) -> Parts:
    """Tiles of four rows and filters, of which the last ones are filled up, and of a lone row; rows
    that are packed, gathered, or copied.
    """
    w, filters = spec.window, -(-spec.out_channels // ROWS)
    tiles = -(-spec.rows // ROWS)
    lone = 0 if spec.single is None else 1
    four = tiles - lone if spec.tile is not None else 0
    block = "block of a pair" if spec.paired else "block"
    packed_rows = 0 if spec.reads_in_place else tiles * ROWS
    gathered = packed_rows if spec.rows_come in ("strip", "gathered") else 0
    strip_rows = w.out_height * w.kernel_h if spec.rows_come in ("strip", "in place") else 0
    copies = "run" if spec.copies_runs else "tap"
    return Parts(
        {
            "call": 1,
            "tile": four * filters,
            f"{block} of a tile": four * filters * spec.blocks,
            "lone row": lone * filters,
            f"{block} of a lone row": lone * filters * spec.blocks,
            "row": packed_rows,
            "vector of a row": packed_rows * spec.blocks,
            "gathered row": gathered,
            copies: gathered * (w.kernel_h if spec.copies_runs else w.taps),
            "vector of a gathered row": 0 if spec.packs_runs else gathered * spec.blocks,
            "copied row": strip_rows,
            "vector of a copied row": strip_rows * -(-spec.strip.copied_bytes // LANES),
            "addition": spec.out_elements if spec.adds else 0,
        }
    )


FAMILY = KernelFamily(
    spec_type=Dense4x4,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=reads_int8,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    lengths=Counted("rows", lambda spec: spec.window.is_pointwise),
    parts=parts,
)
