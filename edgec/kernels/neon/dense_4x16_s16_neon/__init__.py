"""Convolutions and matrix products of int16 on cores with NEON: four rows by sixteen filters."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.layer_end import end_of, typed_end
from edgec.kernels.common.parts import Parts, Run
from edgec.kernels.common.weighted import CONVOLUTIONS, MATRIX_PRODUCTS, weighted_arguments
from edgec.kernels.common.window import dense_window
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.neon.layer import HALF, WIDE, Block, has_full_range, reads_int16
from edgec.kernels.neon.tiled import TiledDense, copy_counts, overlap, padded
from edgec.target.target import Target

WORD = 4
"""Values of a row for which weights are read at a time."""
_WORD_BYTES = 8
"""Bytes of these values."""
_EIGHT, _READ, _LINE = 37, 3, 12
"""Instructions of a word of four rows with eight filters, of reading its values, and of a run."""


@dataclass(frozen=True, slots=True)
class Dense4x16(TiledDense):
    """Convolution of one group, or matrix product, of int16, four rows by sixteen filters at a
    time: `edgec/dense/dense_4x16_s16_neon.h`.

    x int16 [height, width, channels], weights as `packed` gives them, y int8 or int16
    [out_height, out_width, out_channels].

    Attributes:
        lanes: filters whose sums are computed together: 16, or on Armv7-A, whose registers are
            half as many, 8.
    """

    family: ClassVar[str] = "dense_4x16_s16_neon"
    template: ClassVar[Path] = template_beside(__file__, "dense_4x16_s16_neon")
    tile_rows: ClassVar[int] = 4
    alignment: ClassVar[int] = WORD
    lanes: int = field(default=WIDE, metadata=LATER)

    def run_instructions(self, run: int) -> int:
        """Instructions of a tile that reads a run of values."""
        return -(-run // WORD) * (_EIGHT * self.lanes // HALF + _READ) + _LINE

    @property
    def words(self) -> int:
        """Words of a run."""
        return -(-self.depth // self.lines // WORD)

    @property
    def eights(self) -> int:
        """Pairs of words of a run: eight values."""
        return self.words // 2

    @property
    def line_pieces(self) -> tuple[str, ...]:
        """Parts of the names of C macros of a run: `edgec/dense/dense_4x16_s16_neon.h`."""
        whole = ("EIGHTS",) if self.eights else ()
        return (*whole, "LAST") if self.words % 2 else whole

    @property
    def next_line(self) -> str:
        """C macro of the step from a run to the next one: `edgec/dense/dense_4x16_s16_neon.h`."""
        return "EDGEC_NEON_WIDE_NEXT" if self.lines > 1 else "EDGEC_NEON_WIDE_NO_NEXT"

    @property
    def step(self) -> int:
        """Bytes from the end of a run, as it is read, to the next one."""
        return self.strip.pitch - self.words * _WORD_BYTES if self.reads_strip else 0

    @property
    def stored_bytes(self) -> int:
        """Bytes of the weights of eight filters."""
        return self.lines * self.words * WORD * HALF

    @property
    def has_sixteen(self) -> bool:
        """Sixteen filters are computed together on A64."""
        return self.lanes == WIDE

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Blocks of which there are functions of sums, each lanes once."""
        found = (*((self.block,) if self.full else ()), *((self.rest,) if self.rest else ()))
        return tuple({block.lanes: block for block in found}.values())

    def describe(self) -> str:
        """Operator, shapes and blocking in words, for a comment in C."""
        return self._described("four")


def packed(weights: Array, lines: int) -> Array:
    """Filters eight by eight, a weight of each side by side.

    Args:
        weights: int8 [O, ...].
        lines: runs into which the weights of a filter are cut.

    Returns:
        int8 [ceil(O / 8), lines, weights of a run, 8], a multiple of four weights; what is missing
        at the ends is zero.
    """
    rows = weights.reshape(weights.shape[0], lines, -1)
    count, _, run = rows.shape
    filled = np.pad(rows, ((0, -count % HALF), (0, 0), (0, -run % WORD)))
    return np.ascontiguousarray(
        filled.reshape(-1, HALF, lines, filled.shape[2]).transpose(0, 2, 3, 1)
    )


def accepts(_graph: Graph, node: Node, target: Target) -> bool:
    """A convolution of one group or a matrix product, on a core with NEON."""
    return target.has_neon and getattr(node.attrs, "group", 1) == 1


def spec(graph: Graph, node: Node, target: Target) -> Dense4x16:
    """The specification for a convolution of one group or a matrix product of int16."""
    filters, typed = graph.shape(plain_inputs(node).w)[0], typed_end(graph, node)
    numbers = (dense_window(graph, node), filters, *end_of(graph, node))
    lanes = WIDE if target.is_aarch64 else HALF
    return Dense4x16(*numbers, full_range=has_full_range(node), typed=typed, lanes=lanes)


def arguments(graph: Graph, node: Node, spec: Dense4x16, pool: ConstantPool) -> tuple[Params, ...]:
    """Filters eight by eight."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        return packed(weights, spec.lines), padded(bias), padded(multiplier)

    return weighted_arguments(graph, node, pool, pack, pad=padded)


def parts(spec: Dense4x16, _run: Run) -> Parts:
    """Tiles of four rows by eight or sixteen filters, with the words that they read; copied rows,
    and windows.
    """
    kind = "single row" if spec.is_single else "tile"
    counts: dict[str, float] = {"call": 1, **copy_counts(spec)}
    blocks = [(spec.full // spec.lanes, spec.lanes)]
    if spec.rest is not None:
        blocks.append((1, spec.rest.lanes))
    runs, words = spec.lines, spec.lines * spec.words
    for count, lanes in blocks:
        for name, each in (("", 1), ("run of a ", runs), ("word of a ", words)):
            part = f"{name}{kind} of {lanes}"
            counts[part] = counts.get(part, 0) + spec.tiles * count * each
    return Parts(counts)


FAMILY = KernelFamily(
    spec_type=Dense4x16,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=reads_int16,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
)
