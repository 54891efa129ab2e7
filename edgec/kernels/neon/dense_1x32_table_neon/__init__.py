"""Fully connected layers of one row whose weights have 1 or 2 bits, by table, on A64.

What one row makes of a few columns, for any weights that there can be, is in a table, which serves
all filters (Wei et al., "T-MAC: CPU Renaissance via Table Lookup for Low-Bit LLM Deployment on
Edge", arXiv 2407.00088).  It pays where filters are many enough for the tables.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.form_ends import Rescale16, Tflite31, TypedEnd
from edgec.kernels.common.layer_end import end_of, typed_end
from edgec.kernels.common.overlap import IN_PLACE, with_ending
from edgec.kernels.common.packing import LEAST_SAVED_BYTES, lone_row_weights
from edgec.kernels.common.parts import Parts, Run
from edgec.kernels.common.weighted import CONVOLUTIONS, MATRIX_PRODUCTS, weighted_arguments
from edgec.kernels.common.window import dense_window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.neon.layer import has_full_range, reads_int8
from edgec.kernels.neon.lone_row import LoneRow
from edgec.kernels.neon.weights import LANES, ROWS, padded
from edgec.target.target import Target

_FILTERS = 32
"""Filters of a tile."""
_GROUPS = 8
"""Groups of columns in a turn."""
_NUMBER_BITS = 4
"""Bits of the number that is looked up."""
_TABLE_BYTES = 32
"""Bytes of a table: of 16 numbers the low five bits and the high ones."""
_MOST_TURNS = 255
"""Turns whose sums fit 16 bits."""
_OF_TABLE = {1: (5.2, 3.7), 2: (6.4, 7.0)}
"""Instructions for a column of the row, and more of them for each tile, by bits, on an A53."""
_OF_UNPACKED = 0.28
"""Instructions for a weight where digits are unpacked in registers (`dense_1x4_packed_neon`)."""


def columns_of(bits: int) -> int:
    """Columns of a group."""
    return _NUMBER_BITS // bits


def digits_of(weights: Array) -> tuple[int, int] | None:
    """(bits, step) of weights that are whole multiples of one step: -1 and 1 have one bit, -2 to 1
    two; None: they need more.
    """
    found = np.unique(weights).astype(np.int16)  # int8 holds no step of 128
    step = math.gcd(*found.tolist())
    numbers = set((found // step).tolist()) if step else set()
    if not numbers or not numbers <= {-2, -1, 0, 1}:
        return None
    return (1 if numbers <= {-1, 1} else 2), step


def packed_numbers(weights: Array, bits: int, step: int) -> Array:
    """Numbers of groups of columns, as `edgec/dense/dense_1x32_table_neon.h` reads them.

    Args:
        weights: int8 [O, depth], `step` times numbers as `digits_of` says.
        bits: 1 or 2.
        step: the greatest common divisor of the weights.

    Returns:
        uint8 [ceil(O / 32), groups / 2, 32]: of a filter the digits of the columns of a group,
        lowest bits first, in four bits, and above them those of the next group.  A digit is
        (weight / step + 1) / 2 of one bit, weight / step + 2 of two.  Digits of columns and filters
        that are missing are 0.
    """
    numbers = weights.astype(np.int16) // step
    digits = ((numbers + 1) // 2 if bits == 1 else numbers + 2).astype(np.uint8)
    filters, depth = digits.shape
    columns = columns_of(bits)
    digits = np.pad(digits, ((0, -filters % _FILTERS), (0, -depth % (_GROUPS * columns))))
    # Two groups fill a byte.
    groups = digits.reshape(len(digits), -1, 2 * columns)
    shifts = (np.arange(2 * columns) * bits).astype(np.uint8)
    stored = np.bitwise_or.reduce(groups << shifts, axis=2).astype(np.uint8)
    tiles = stored.reshape(-1, _FILTERS, stored.shape[1]).transpose(0, 2, 1)
    return np.ascontiguousarray(tiles)


@dataclass(frozen=True, slots=True)
class Dense1x32Table(LoneRow):
    """Product of a vector with constant weights of 1 or 2 bits by table, 32 filters at a time:
    `edgec/dense/dense_1x32_table_neon.h`.

    Attributes:
        depth, units, bits: as for `LoneRow`; 1 or 2 bits.
        step: weights are this times -1 and 1, or times -2 to 1.
        shift: right shift with a multiplier of 31 bits.
        residual_shift: shift of the addition that follows it; None: there is none.
        rescale16: how a sum is stored with 16x15 bits; None: with a multiplier of 31 bits.
        tflite31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
        full_range: outputs need no bounds but those of their type.
        typed: the end of a layer that gives int16; None: of all others.
    """

    family: ClassVar[str] = "dense_1x32_table_neon"
    template: ClassVar[Path] = template_beside(__file__, "dense_1x32_table_neon")
    step: int
    shift: int
    residual_shift: int | None = None
    rescale16: Rescale16 | None = None
    tflite31: Tflite31 | None = None
    full_range: bool = False
    typed: TypedEnd | None = None

    @property
    def turns(self) -> int:
        """Turns of the loop over a filter, eight groups each."""
        return -(-self.depth // (_GROUPS * columns_of(self.bits)))

    @property
    def groups(self) -> int:
        """Groups of columns of these turns, each with a table."""
        return self.turns * _GROUPS

    @property
    def stored_depth(self) -> int:
        """Columns of these turns, a multiple of 16."""
        return self.groups * columns_of(self.bits)

    @property
    def tile_bytes(self) -> int:
        """Bytes of the weights of 32 filters."""
        return self.groups // 2 * _FILTERS

    @property
    def tiles(self) -> int:
        """Tiles of 32 filters."""
        return -(-self.units // _FILTERS)

    @property
    def pays(self) -> bool:
        """Tables take fewer instructions than digits that are unpacked in registers."""
        of_row, of_tile = _OF_TABLE[self.bits]
        return of_row + of_tile * self.tiles < _OF_UNPACKED * self.units

    @property
    def factor(self) -> int:
        """Factor of a sum of levels: a weight of one bit is twice its digit, less 1."""
        return self.step * (2 if self.bits == 1 else 1)

    @property
    def sums_at(self) -> int:
        """Place of sums in scratch, after the tables; the row of x lies there before."""
        return self.groups * _TABLE_BYTES

    @property
    def added_at(self) -> int:
        """Place of the residual, a multiple of 16."""
        return self.sums_at + max(4 * _FILTERS * self.tiles, -(-self.stored_depth // LANES) * LANES)

    def describe(self) -> str:
        """Operator, shapes and blocking in words, for a comment in C."""
        return f"Matrix product {self.shapes} by table, 32 filters at a time"


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A product of one row with weights of 1 or 2 bits on A64, with filters enough for the tables,
    where packing saves flash.
    """
    weights = lone_row_weights(graph, node) if target.has_neon and target.is_aarch64 else None
    if weights is None or digits_of(weights) is None:
        return False
    found = spec(graph, node, target)
    saved = weights.size - found.tiles * found.tile_bytes
    fits = found.turns <= _MOST_TURNS and found.scratch_bytes <= target.scratch_limit_bytes
    return fits and found.pays and saved >= LEAST_SAVED_BYTES


def spec(graph: Graph, node: Node, _target: Target) -> Dense1x32Table:
    """The specification for a layer that `accepts` accepts."""
    window, weights = dense_window(graph, node), graph.constants[plain_inputs(node).w].array
    digits = digits_of(weights)
    assert digits is not None
    bits, step = digits
    depth = window.taps * window.channels
    end, typed = end_of(graph, node), typed_end(graph, node)
    return Dense1x32Table(
        depth, len(weights), bits, step, *end, full_range=has_full_range(node), typed=typed
    )


def overlap(spec: Dense1x32Table) -> Distances:
    """All of x, and of the residual, is read before the first output is written."""
    return with_ending(spec, IN_PLACE)


def arguments(
    graph: Graph, node: Node, spec: Dense1x32Table, pool: ConstantPool
) -> tuple[Params, ...]:
    """Numbers of groups of columns, 32 filters beside each other."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        numbers = packed_numbers(weights.reshape(len(weights), -1), spec.bits, spec.step)
        return numbers.view(np.int8), padded(bias), padded(multiplier)

    return weighted_arguments(graph, node, pool, pack, pad=padded)


def parts(spec: Dense1x32Table, _run: Run) -> Parts:
    """Tables, their look-ups, and outputs."""
    return Parts(
        {
            "call": 1,
            "vector of the row": spec.stored_depth // LANES,
            f"table of {columns_of(spec.bits)} columns": spec.groups,
            "tile": spec.tiles,
            "turn of a tile": spec.tiles * spec.turns,
            "four outputs": -(-spec.units // ROWS),
            "addition": spec.out_elements if spec.adds else 0,
        }
    )


FAMILY = KernelFamily(
    spec_type=Dense1x32Table,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=reads_int8,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
    saves_flash=True,
)
