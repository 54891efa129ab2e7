"""Convolutions and matrix products on cores with dot products: eight rows by eight filters."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import is_int8_layer, plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.dense import Dense
from edgec.kernels.common.layer_end import end_of
from edgec.kernels.common.overlap import by_blocks, pixel_distance, with_ending
from edgec.kernels.common.parts import Parts, Run
from edgec.kernels.common.weighted import CONVOLUTIONS, MATRIX_PRODUCTS, weighted_arguments
from edgec.kernels.common.window import dense_window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.neon.layer import HALF, WIDE, Block, NeonLayer, has_full_range
from edgec.kernels.neon.strip import Strip
from edgec.target.target import Target

ROWS = 8
FILTERS = 8
"""Rows, and filters, whose sums are computed together."""
_WORD = 4
"""Products that one instruction adds up."""
_BLOCK, _LAST_WORD, _ROWS_READ, _LINE = 78, 17, 8, 12
"""Instructions of a tile's block, of a word after the blocks of a run, of reading eight vectors for
these, and of a run itself (`edgec/dense/dense_8x8_s8_dot.h`).
"""
_COPY = 14
"""Instructions that finding and copying a row of x, or a tap of a window, takes, about."""


@dataclass(frozen=True, slots=True)
class Dense8x8(Dense, NeonLayer):
    """Convolution of one group, or matrix product, eight rows by eight filters at a time:
    `edgec/dense/dense_8x8_s8_dot.h`.

    x int8 [height, width, channels], weights as `packed` gives them, y [out_height, out_width,
    out_channels].
    """

    family: ClassVar[str] = "dense_8x8_s8_dot"
    template: ClassVar[Path] = template_beside(__file__, "dense_8x8_s8_dot")
    full_range: bool = field(default=False, metadata=LATER)

    @property
    def is_product(self) -> bool:
        """A row of y needs one row of x."""
        return self.window.is_pointwise

    @property
    def reads_image(self) -> bool:
        """Rows of x are read where they are."""
        return self.is_product and self.depth % WIDE == 0

    @property
    def reads_strip(self) -> bool:
        """Windows are read where they are in copied rows of x; else they are gathered.

        A row of a window is one run of these, of which the last vector may hold more than that.
        """
        w = self.window
        if w.dilation_w > 1 or self.is_product:
            return False
        filters = -(-self.out_channels // FILTERS)
        tiles = w.out_height * -(-w.out_width // ROWS)
        run = w.kernel_w * w.channels
        in_rows = tiles * filters * w.kernel_h * _instructions(run)
        at_once = -(-self.rows // ROWS) * filters * _instructions(self.depth)
        copied = w.out_height * w.kernel_h * (2 * _vectors(self.strip.pitch) + _COPY)
        if self.copies_runs and w.out_width > 1:
            gathered = copied + self.rows * w.kernel_h * (2 * _vectors(run) + _LINE)
        else:
            gathered = self.rows * (w.taps * _COPY + 2 * _vectors(self.depth))
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
        return Strip(self.window)

    @property
    def copies_runs(self) -> bool:
        """A window is gathered row by row; else tap by tap."""
        return self.window.columns_are_runs

    @property
    def lines(self) -> int:
        """Runs of memory of a window."""
        return self.window.kernel_h if self.reads_strip else 1

    @property
    def words(self) -> int:
        """Words of four weights of such a run as they are stored; of a single row whole blocks."""
        run = self.depth // self.lines
        return _vectors(run) * _WORD if self.is_single else _words(run)

    @property
    def blocks(self) -> int:
        """Whole blocks of sixteen values of such a run."""
        return self.words // _WORD

    @property
    def last_words(self) -> int:
        """Words after these."""
        return self.words % _WORD

    @property
    def pairs(self) -> int:
        """Pairs of blocks of a run before the last block, or the last two."""
        return max(self.blocks - 1, 0) // 2

    @property
    def line_pieces(self) -> tuple[str, ...]:
        """C macros of a run: `edgec/dense/dense_8x8_s8_dot.h`."""
        pieces: list[str] = []
        if self.blocks:
            pieces.append("BEGIN")
            if self.pairs:
                pieces.append("PAIR" if self.pairs == 1 else "PAIRS")
            ends = "" if self.last_words or self.lines == 1 else "_END"
            pieces.append(("ODD" if self.blocks % 2 else "EVEN") + ends)
        if self.last_words:
            pieces.append(f"WORDS_{self.last_words}")
        return tuple(f"EDGEC_NEON_DOT_{piece}" for piece in pieces)

    @property
    def is_whole(self) -> bool:
        """All tiles have as many rows as are computed together."""
        return (self.window.out_width if self.reads_strip else self.rows) % len(self.together) == 0

    @property
    def stored_bytes(self) -> int:
        """Bytes of the weights of eight filters."""
        return self.lines * self.words * _WORD * FILTERS

    @property
    def step(self) -> int:
        """Bytes from the end of the whole blocks of a run to the next run."""
        return self.strip.pitch - self.blocks * WIDE if self.reads_strip else 0

    @property
    def pixel(self) -> int:
        """Bytes from a row of x, as it is read, to the next one."""
        if self.reads_strip:
            return self.window.stride_w * self.window.channels
        return self.depth if self.reads_image else _vectors(self.depth) * WIDE

    @property
    def is_single(self) -> bool:
        """There is one row."""
        return self.rows == 1

    @property
    def together(self) -> range:
        """Numbers of the rows of a tile."""
        return range(1 if self.is_single else ROWS)

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
    def next_line(self) -> str:
        """C macro of the step from a run to the next one: `edgec/dense/dense_8x8_s8_dot.h`."""
        return "EDGEC_NEON_DOT_NEXT" if self.lines > 1 else "EDGEC_NEON_DOT_NO_NEXT"

    @property
    def full(self) -> int:
        """Filters in full blocks."""
        return self.out_channels // FILTERS * FILTERS

    @property
    def block(self) -> Block:
        """Eight filters."""
        return Block(HALF, HALF)

    @property
    def rest(self) -> Block | None:
        """The filters after the last eight."""
        count = self.out_channels - self.full
        return Block(HALF, count) if count else None

    @property
    def extras(self) -> tuple[tuple[str, str], ...]:
        """Arguments of a tile's function besides parameters: C parameter and argument."""
        return self.tile_extras("added")

    @property
    def reads_padding(self) -> bool:
        """Copied rows or windows may hold padding, whose value is in the argument struct."""
        if self.is_product:
            return False
        clipped = self.window.rows_clipped or self.window.cols_clipped
        return self.copies_rows or clipped or not self.copies_runs

    @property
    def windows_at(self) -> int:
        """Place of gathered windows in scratch, after copied rows of x; a multiple of 16."""
        return -(-self.strip.size_bytes // WIDE) * WIDE if self.gathers_strip else 0

    @property
    def windows_bytes(self) -> int:
        """Bytes of gathered windows, and of what a vector writes beyond them."""
        if self.reads_image or self.reads_strip:
            return 0
        return len(self.together) * self.pixel + self.gathers_strip * WIDE

    @property
    def rows_bytes(self) -> int:
        """Bytes of copied rows and of gathered windows."""
        return self.strip.size_bytes if self.reads_strip else self.windows_at + self.windows_bytes

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
        return self.added_at + (ROWS * self.out_channels + FILTERS) * self.out_bytes

    def describe(self) -> str:
        """Operator, shapes and blocking in words, for a comment in C."""
        return self._described("eight")


def _instructions(run: int) -> int:
    """Instructions of a tile of eight rows with eight filters that read a run of values."""
    blocks, last = divmod(_words(run), _WORD)
    return blocks * _BLOCK + last * _LAST_WORD + (_ROWS_READ if last else 0) + _LINE


def _vectors(values: int) -> int:
    return -(-values // WIDE)


def _words(values: int) -> int:
    return -(-values // _WORD)


def packed(weights: Array, lines: int, words: int) -> Array:
    """Filters eight by eight, four weights of each side by side.

    Args:
        weights: int8 [O, ...].
        lines: runs into which the weights of a filter are cut.
        words: words of four weights of a run as they are stored.

    Returns:
        int8 [ceil(O / 8), lines, words, 8, 4]; what is missing at the ends is zero.
    """
    rows = weights.reshape(weights.shape[0], lines, -1)
    count, _, run = rows.shape
    missing = ((0, -count % FILTERS), (0, 0), (0, words * _WORD - run))
    filled = np.pad(rows, missing).reshape(-1, FILTERS, lines, words, _WORD)
    return np.ascontiguousarray(filled.transpose(0, 2, 3, 1, 4))


def padded(values: Array) -> Array:
    """One number a filter, zeros for those that are missing at the end; [O] to [multiple of 8]."""
    return np.pad(values, (0, -len(values) % FILTERS))


def accepts(_graph: Graph, node: Node, target: Target) -> bool:
    """A convolution of one group or a matrix product, on a core with dot products."""
    return target.has_neon and target.has_dot_product and getattr(node.attrs, "group", 1) == 1


def spec(graph: Graph, node: Node, _target: Target) -> Dense8x8:
    """The specification for a convolution of one group or a matrix product, of either form."""
    filters = graph.shape(plain_inputs(node).w)[0]
    numbers = (dense_window(graph, node), filters, *end_of(graph, node))
    return Dense8x8(*numbers, full_range=has_full_range(node))


def overlap(spec: Dense8x8) -> Distances:
    """Windows of eight rows, or of a row of an image, are copied before their outputs are written.

    Rows that are read where they are are read again for every eight filters.
    """
    w, written = spec.window, spec.out_channels * spec.out_bytes
    if not spec.reads_image:
        return with_ending(spec, by_blocks(w, written, w.out_width if spec.reads_strip else ROWS))
    if spec.out_channels <= FILTERS:
        return with_ending(spec, by_blocks(w, written, ROWS))
    rows = np.arange(spec.rows)
    ends = np.minimum(rows - rows % ROWS + ROWS - 1, spec.rows - 1)
    last = (math.ceil(spec.out_channels / FILTERS) - 1) * FILTERS * spec.out_bytes
    return with_ending(spec, pixel_distance(ends, written, w.channels) + last)


def arguments(graph: Graph, node: Node, spec: Dense8x8, pool: ConstantPool) -> tuple[Params, ...]:
    """Filters eight by eight."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        return packed(weights, spec.lines, spec.words), padded(bias), padded(multiplier)

    return weighted_arguments(graph, node, pool, pack, pad=padded)


def parts(spec: Dense8x8, _run: Run) -> Parts:
    """Tiles of eight rows and filters, with the runs that they read; copied rows, and windows."""
    w, filters = spec.window, -(-spec.out_channels // FILTERS)
    tiles = w.out_height * -(-w.out_width // ROWS) if spec.reads_strip else -(-spec.rows // ROWS)
    strip_rows = w.out_height * w.kernel_h if spec.copies_rows else 0
    runs = tiles * filters * spec.lines
    single = spec.is_single
    windows = 0 if spec.reads_strip or spec.reads_image else spec.rows
    lines, place = w.kernel_h, "a copied row"
    if not spec.gathers_strip:
        lines, place = (w.kernel_h, "x") if spec.copies_runs else (w.taps, "x, by taps")
    return Parts(
        {
            "call": 1,
            "tile": tiles * filters,
            "run of a tile": runs,
            "vector of a tile": 0 if single else runs * spec.blocks,
            "words of a run": runs if spec.last_words else 0,
            "word of a run": runs * spec.last_words,
            "vector of a single row": runs * spec.blocks if single else 0,
            "copied row": strip_rows,
            "vector of a copied row": strip_rows * _vectors(spec.strip.copied_bytes),
            "window": windows,
            f"part of a window from {place}": windows * lines,
            "vector of a window": windows * _vectors(spec.depth),
            "addition": spec.out_elements if spec.adds else 0,
        }
    )


FAMILY = KernelFamily(
    spec_type=Dense8x8,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=is_int8_layer,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
)
