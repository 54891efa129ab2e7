"""Convolutions and matrix products on cores with dot products: eight rows by eight filters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.layer_end import end_of, typed_end
from edgec.kernels.common.parts import Parts, Run
from edgec.kernels.common.weighted import CONVOLUTIONS, MATRIX_PRODUCTS, weighted_arguments
from edgec.kernels.common.window import dense_window
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.neon.layer import WIDE, has_full_range, reads_int8
from edgec.kernels.neon.tiled import TiledDense, copy_counts, overlap, padded
from edgec.target.target import Target

FILTERS = 8
"""Filters whose sums are computed together."""
WORD = 4
"""Products that one instruction adds up."""
_BLOCK, _LAST_WORD, _ROWS_READ, _LINE = 78, 17, 8, 12
"""Instructions of a tile's block, of a word after the blocks of a run, of reading eight vectors for
these, and of a run itself (`edgec/dense/dense_8x8_s8_dot.h`).
"""


@dataclass(frozen=True, slots=True)
class Dense8x8(TiledDense):
    """Convolution of one group, or matrix product, eight rows by eight filters at a time:
    `edgec/dense/dense_8x8_s8_dot.h`.

    x int8 [height, width, channels], weights as `packed` gives them, y [out_height, out_width,
    out_channels].
    """

    family: ClassVar[str] = "dense_8x8_s8_dot"
    template: ClassVar[Path] = template_beside(__file__, "dense_8x8_s8_dot")
    tile_rows: ClassVar[int] = 8
    alignment: ClassVar[int] = WIDE

    @property
    def lanes(self) -> int:
        """Filters whose sums are computed together."""
        return FILTERS

    def run_instructions(self, run: int) -> int:
        """Instructions of a tile that reads a run of values."""
        blocks, last = divmod(_words(run), WORD)
        read = blocks * _BLOCK + last * _LAST_WORD + (_ROWS_READ if last else 0)
        return (2 if self.splits else 1) * (read + _LINE)

    @property
    def words(self) -> int:
        """Words of four weights of such a run as they are stored; of a single row whole blocks."""
        run = self.depth // self.lines
        return self.vectors(run) * WORD if self.is_single else _words(run)

    @property
    def blocks(self) -> int:
        """Whole blocks of sixteen values of such a run."""
        return self.words // WORD

    @property
    def last_words(self) -> int:
        """Words after these."""
        return self.words % WORD

    @property
    def pairs(self) -> int:
        """Pairs of blocks of a run before the last block, or the last two."""
        return max(self.blocks - 1, 0) // 2

    @property
    def sums_macro(self) -> str:
        """C macro of the function of a tile's sums: `edgec/dense/dense_8x8_s8_dot.h`."""
        return "EDGEC_NEON_DOT8_SPLIT" if self.splits else "EDGEC_NEON_DOT8"

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
    def stored_bytes(self) -> int:
        """Bytes of the weights of eight filters."""
        return self.lines * self.words * WORD * FILTERS

    @property
    def step(self) -> int:
        """Bytes from the end of the whole blocks of a run to the next run."""
        return self.strip.pitch - self.blocks * WIDE if self.reads_strip else 0

    @property
    def next_line(self) -> str:
        """C macro of the step from a run to the next one: `edgec/dense/dense_8x8_s8_dot.h`."""
        return "EDGEC_NEON_DOT_NEXT" if self.lines > 1 else "EDGEC_NEON_DOT_NO_NEXT"

    def describe(self) -> str:
        """Operator, shapes and blocking in words, for a comment in C."""
        return self._described("eight")


def _words(values: int) -> int:
    return -(-values // WORD)


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
    missing = ((0, -count % FILTERS), (0, 0), (0, words * WORD - run))
    filled = np.pad(rows, missing).reshape(-1, FILTERS, lines, words, WORD)
    return np.ascontiguousarray(filled.transpose(0, 2, 3, 1, 4))


def accepts(_graph: Graph, node: Node, target: Target) -> bool:
    """A convolution of one group or a matrix product, on a core with dot products."""
    return target.has_neon and target.has_dot_product and getattr(node.attrs, "group", 1) == 1


def spec(graph: Graph, node: Node, _target: Target) -> Dense8x8:
    """The specification for a convolution of one group or a matrix product, of any form."""
    filters, typed = graph.shape(plain_inputs(node).w)[0], typed_end(graph, node)
    numbers = (dense_window(graph, node), filters, *end_of(graph, node))
    return Dense8x8(*numbers, full_range=has_full_range(node), typed=typed)


def arguments(graph: Graph, node: Node, spec: Dense8x8, pool: ConstantPool) -> tuple[Params, ...]:
    """Filters eight by eight."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        return packed(weights, spec.lines, spec.words), padded(bias), padded(multiplier)

    return weighted_arguments(graph, node, pool, pack, pad=padded)


def parts(spec: Dense8x8, _run: Run) -> Parts:
    """Tiles of eight rows and filters, with the runs that they read; copied rows, and windows."""
    filters = -(-spec.out_channels // FILTERS)
    tiles = spec.tiles
    runs = tiles * filters * spec.lines
    single = spec.is_single
    return Parts(
        {
            "call": 1,
            "tile": 0 if single else tiles * filters,
            "run of a tile": 0 if single else runs,
            "single row": filters if single else 0,
            "vector of a tile": 0 if single else runs * spec.blocks,
            "words of a run": runs if spec.last_words else 0,
            "word of a run": runs * spec.last_words,
            "vector of a single row": runs * spec.blocks if single else 0,
            **copy_counts(spec),
            "addition": spec.out_elements if spec.adds else 0,
        }
    )


FAMILY = KernelFamily(
    spec_type=Dense8x8,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=reads_int8,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
)
