"""Fully connected layers of one row whose weights have 2 to 4 bits, on cores with DSP.

Each weight of a single row is used once.  So it is not unpacked to memory first, as other layers do
(`edgec.kernels.packed.filters`), but in registers, between the load and the product.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import is_int8_layer, plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.form_ends import Rescale16, Tflite31
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.layer_end import end_of
from edgec.kernels.common.overlap import IN_PLACE, with_ending
from edgec.kernels.common.packing import LEAST_SAVED_BYTES, lone_row_weights
from edgec.kernels.common.parts import UNMEASURED, Parts, Run, WeightReads, numbers_of
from edgec.kernels.common.weighted import CONVOLUTIONS, MATRIX_PRODUCTS, weighted_arguments
from edgec.kernels.common.window import dense_window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.packed.codes import code_bits
from edgec.target.target import Target

_FILTERS = 4
_BATCH = 8
_WORD_BYTES = 4
_HALF_BITS = 16
_COLUMNS_OF_TURN = 16
"""Columns of a turn of the loop, at least."""


@dataclass(frozen=True, slots=True)
class Dense1x4Packed(LayerFunction):
    """Product of a vector with constant weights of few bits, four filters at a time:
    `edgec/dense/dense_1x4_packed_dsp.h`.

    x int8 [depth]; y [units].

    Attributes:
        depth, units: shapes.
        bits: how many a weight has, 2 to 4.
        shift: right shift with a multiplier of 31 bits.
        residual_shift: shift of the addition that follows it; None: there is none.
        rescale16: how a sum is stored with 16x15 bits; None: with a multiplier of 31 bits.
        tflite31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
    """

    family: ClassVar[str] = "dense_1x4_packed_dsp"
    template: ClassVar[Path] = template_beside(__file__, "dense_1x4_packed_dsp")
    depth: int
    units: int
    bits: int
    shift: int
    residual_shift: int | None = None
    rescale16: Rescale16 | None = None
    tflite31: Tflite31 | None = field(default=None, metadata=LATER)

    @property
    def digits(self) -> int:
        """Weights of a filter in half a word."""
        return _HALF_BITS // self.bits

    @property
    def pairs(self) -> int:
        """Pairs of columns of a row of whole words of x."""
        return 2 * -(-self.depth // 4)

    @property
    def words(self) -> int:
        """Words of weights of one filter."""
        return -(-self.pairs // self.digits)

    @property
    def stored_pairs(self) -> int:
        """Pairs of columns of these words, those that fill up the last one with them."""
        return self.words * self.digits

    @property
    def unrolled(self) -> int:
        """Words in one turn of the loop."""
        return min(-(-_COLUMNS_OF_TURN // (2 * self.digits)), self.words)

    @property
    def fours(self) -> int:
        """Groups of four filters."""
        return -(-self.units // _FILTERS)

    @property
    def four_bytes(self) -> int:
        """Bytes of the weights of four filters."""
        return _FILTERS * _WORD_BYTES * self.words

    @property
    def batch(self) -> int:
        """Groups of filters whose sums are computed in one call."""
        return min(_BATCH, self.fours)

    @property
    def sums_at(self) -> int:
        """Place of the sums in scratch, in bytes, after the start of sums and the widened row."""
        return _WORD_BYTES * (1 + self.stored_pairs)

    @property
    def scratch_bytes(self) -> int:
        """The widened row, and the sums of a batch."""
        return self.sums_at + self.batch * _FILTERS * _WORD_BYTES

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.units

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        return self.units * self.depth

    def describe(self) -> str:
        """Operator, shapes and blocking in words, for a comment in C."""
        shapes = f"[1, {self.depth}] by [{self.units}, {self.depth}] of {self.bits} bits"
        return f"Matrix product {shapes}, four filters at a time"


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A product of one row with weights that are few numbers, on a core with DSP."""
    weights = lone_row_weights(graph, node) if target.has_dsp else None
    if weights is None or code_bits(weights) is None:
        return False
    found = spec(graph, node, target)
    saved = weights.size - found.fours * found.four_bytes
    return saved >= LEAST_SAVED_BYTES and found.scratch_bytes <= target.scratch_limit_bytes


def spec(graph: Graph, node: Node, _target: Target) -> Dense1x4Packed:
    """The specification for a layer that `accepts` accepts."""
    window, weights = dense_window(graph, node), graph.constants[plain_inputs(node).w].array
    bits = code_bits(weights)
    assert bits is not None
    depth = window.taps * window.channels
    return Dense1x4Packed(depth, len(weights), bits, *end_of(graph, node))


def overlap(spec: Dense1x4Packed) -> Distances:
    """All of x is read before the first output is written."""
    return with_ending(spec, IN_PLACE)


def packed_digits(weights: Array, bits: int) -> Array:
    """Filters four by four, as `edgec/dense/dense_1x4_packed_dsp.h` reads them.

    Args:
        weights: int8 [O, depth], numbers of `bits` bits.
        bits: 2 to 4.

    Returns:
        int8 [ceil(O / 4), words, 4 filters, 4 bytes]: in each half word the digits of one column of
        as many pairs of columns, lowest bits first, each less the least number; of a word of x the
        columns 0 and 2 are a pair, and 1 and 3.
    """
    filters, depth = weights.shape
    digits, least = _HALF_BITS // bits, -(1 << bits - 1)
    wide = np.pad(weights.astype(np.int64) - least, ((0, -filters % _FILTERS), (0, -depth % 4)))
    pairs = wide.reshape(len(wide), -1, 2, 2).swapaxes(2, 3).reshape(len(wide), -1, 2)
    pairs = np.pad(pairs, ((0, 0), (0, -pairs.shape[1] % digits), (0, 0)))
    places = pairs.reshape(len(wide), -1, digits, 2) << (bits * np.arange(digits))[:, None]
    halves = places.sum(axis=2).astype("<u2")
    words = halves.reshape(-1, _FILTERS, halves.shape[1], 2).swapaxes(1, 2)
    return np.ascontiguousarray(words).view(np.int8)


def arguments(
    graph: Graph, node: Node, spec: Dense1x4Packed, pool: ConstantPool
) -> tuple[Params, ...]:
    """Filters four by four, as digits."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        return packed_digits(weights.reshape(len(weights), -1), spec.bits), bias, multiplier

    return weighted_arguments(graph, node, pool, pack)


_CODE_BYTES = 300
_PAIR_CODE_BYTES = 34


def parts(spec: Dense1x4Packed, _run: Run) -> Parts:
    """Counts of a call as those of `dense_1x4_dsp`, whose word is two pairs of columns."""
    words = spec.stored_pairs // 2
    turns = spec.words // spec.unrolled
    counts: dict[str, float] = {
        "call": 1,
        "batch": -(-spec.fours // spec.batch),
        "word of the row": words,
        "rest of the row": 1 if spec.depth % 4 else 0,
        "four filters": spec.fours,
        "word of four filters": spec.fours * words,
        "turn": spec.fours * turns if turns > 1 else 0,
        "output": spec.out_elements,
        "addition": spec.out_elements if spec.adds else 0,
    }
    if spec.rescale16 is not None:
        counts[UNMEASURED] = 1
    loop = (spec.unrolled + spec.words % spec.unrolled) * spec.digits * _PAIR_CODE_BYTES
    reads = WeightReads(spec.fours * spec.four_bytes, 1, numbers_of(spec.units))
    return Parts(counts, _CODE_BYTES + loop, reads)


FAMILY = KernelFamily(
    spec_type=Dense1x4Packed,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=is_int8_layer,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
    prices="dense_1x4_dsp",
    saves_flash=True,
)
