"""Convolutions and matrix products on cores with NEON: four rows by four filters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MIN
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import is_int8_layer, plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.dense import Dense
from edgec.kernels.common.layer_end import end_of
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.overlap import by_blocks, with_ending
from edgec.kernels.common.parts import Parts, Run
from edgec.kernels.common.weighted import CONVOLUTIONS, MATRIX_PRODUCTS, weighted_arguments
from edgec.kernels.common.window import dense_window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.neon.layer import NeonLayer
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


@dataclass(frozen=True, slots=True)
class TileRow:
    """A row whose codes are in one half of a vector of eight.

    Attributes:
        number: number of the row in its tile.
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
    """Rows whose codes are stored from one vector: two, or one twice."""

    rows: tuple[TileRow, ...]

    @property
    def first(self) -> TileRow:
        """The row in the low half."""
        return self.rows[0]

    @property
    def last(self) -> TileRow:
        """The row in the high half."""
        return self.rows[-1]


@dataclass(frozen=True, slots=True)
class Tile:
    """Rows whose sums with four filters one function computes: four, or one."""

    rows: int

    @property
    def is_single(self) -> bool:
        """The tile is one row."""
        return self.rows == 1

    @property
    def others(self) -> range:
        """The rows after the first one."""
        return range(1, self.rows)

    @property
    def pairs(self) -> tuple[TilePair, ...]:
        """The rows, two by two."""
        numbers = range(self.rows)
        halves = (numbers[first : first + 2] for first in numbers[::2])
        return tuple(
            TilePair(tuple(TileRow(number, half) for half, number in enumerate(pair)))
            for pair in halves
        )


@dataclass(frozen=True, slots=True)
class Dense4x4(Dense, NeonLayer):
    """Convolution of one group, or matrix product, four rows by four filters at a time.

    x int8 [height, width, channels], weights without -128 as `neon_weights.packed` gives them, y
    [out_height, out_width, out_channels].
    """

    family: ClassVar[str] = "dense_4x4_s8_neon"
    template: ClassVar[Path] = template_beside(__file__, "dense_4x4_s8_neon")

    @property
    def blocks(self) -> int:
        """Blocks of 16 weights of a filter."""
        return blocks_of(self.depth)

    @property
    def stored_bytes(self) -> int:
        """Bytes of the weights in the kernel's order."""
        return padded_rows(self.out_channels) * self.blocks * LANES

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
        return clipped or not self.copies_runs

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
    def patch_at(self) -> int:
        """Place of a gathered window in scratch, in bytes, after four packed ones."""
        return self.blocks * BLOCK_BYTES

    @property
    def added_at(self) -> int:
        """Place of the residual of four rows; a multiple of 16."""
        return self.patch_at + (0 if self.is_product else self.blocks * LANES)

    @property
    def scratch_bytes(self) -> int:
        """Four packed windows, one that is not, and the residual of four rows."""
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


def spec(graph: Graph, node: Node, _target: Target) -> Dense4x4:
    """The specification for a convolution of one group or a matrix product, of either form."""
    filters = graph.shape(plain_inputs(node).w)[0]
    return Dense4x4(dense_window(graph, node), filters, *end_of(graph, node))


def overlap(spec: Dense4x4) -> Distances:
    """The windows of four rows are read before the first of them is written."""
    return with_ending(spec, by_blocks(spec.window, spec.out_channels * spec.out_bytes, ROWS))


def arguments(graph: Graph, node: Node, _spec: Dense4x4, pool: ConstantPool) -> tuple[Params, ...]:
    """Filters four by four."""
    return weighted_arguments(graph, node, pool, _pack, pad=padded)


def _pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
    return packed(weights), padded(bias), padded(multiplier)


def parts(spec: Dense4x4, _run: Run) -> Parts:
    """Tiles of four rows and filters; the last ones are filled up, except for a lone row."""
    depth = spec.blocks * LANES
    rows = spec.rows if spec.rows == 1 else -(-spec.rows // ROWS) * ROWS
    filters = -(-spec.out_channels // ROWS)
    return Parts(
        {
            "product": rows * filters * ROWS * depth,
            "tile": -(-rows // ROWS) * filters,
            "word of a row": rows * depth / 4,
            "output": spec.out_elements,
            "addition": spec.out_elements if spec.residual_shift is not None else 0,
        }
    )


FAMILY = KernelFamily(
    spec_type=Dense4x4,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=is_int8_layer,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    lengths=Counted("rows", lambda spec: spec.window.is_pointwise),
    parts=parts,
)
