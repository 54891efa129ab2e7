"""Fully connected layers of one row whose weights have 2 to 4 bits, on cores with NEON.

Each weight of a single row is used once.  So it is not unpacked to memory first, as other layers do
(`edgec.kernels.packed.filters`), but in registers, between the load and the product.
"""

from __future__ import annotations

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
from edgec.kernels.neon.weights import LANES, ROWS, padded, padded_rows
from edgec.kernels.packed.codes import code_bits
from edgec.target.target import Target

_BYTE = 8
_LOW_BITS = 2
"""Bits of a code of three that its byte of the first two vectors holds."""


def vectors_of_turn(bits: int) -> int:
    """Vectors of 16 weights of a filter that one turn of the loop unpacks: whole bytes."""
    return _BYTE if bits % 2 else _BYTE // bits


def turn_bytes(bits: int) -> int:
    """Bytes of a filter in one turn."""
    return vectors_of_turn(bits) * LANES * bits // _BYTE


def packed_digits(weights: Array, bits: int) -> Array:
    """Filters four by four, as `edgec/dense/dense_1x4_packed_neon.h` reads them.

    Byte j of a turn holds the digits of the columns j, 16 + j, 32 + j, ... of the turn, lowest bits
    first.  Of three bits a turn has 128 columns: the lower two bits of the first 64 and of the
    others, as those of two bits, then a vector of highest bits.

    Args:
        weights: int8 [O, depth], numbers of `bits` bits.
        bits: 2 to 4.

    Returns:
        uint8 [ceil(O / 4), turns, 4 filters, `turn_bytes`], each digit a weight less the least
        number; digits of columns and filters that are missing are 0.
    """
    filters, depth = weights.shape
    columns = vectors_of_turn(bits) * LANES
    digits = (weights.astype(np.int16) + (1 << bits - 1)).astype(np.uint8)
    digits = np.pad(digits, ((0, padded_rows(filters) - filters), (0, -depth % columns)))
    turns = digits.reshape(len(digits), -1, vectors_of_turn(bits), LANES)
    if bits % 2:
        half = vectors_of_turn(bits) // 2
        low = turns & ((1 << _LOW_BITS) - 1)
        vectors = [
            _joined(low[:, :, :half], _LOW_BITS),
            _joined(low[:, :, half:], _LOW_BITS),
            _joined(turns >> _LOW_BITS, 1),
        ]
        stored = np.concatenate(vectors, axis=2)
    else:
        stored = _joined(turns, bits)
    groups = stored.reshape(-1, ROWS, *stored.shape[1:])
    return np.ascontiguousarray(groups.transpose(0, 2, 1, 3))


def _joined(digits: Array, bits: int) -> Array:
    """Digits uint8 [..., n, 16] of `bits` bits side by side in bytes [..., 16], lowest first."""
    shifts = (np.arange(digits.shape[-2], dtype=np.uint8) * bits).astype(np.uint8)
    joined = np.bitwise_or.reduce(digits << shifts[:, None], axis=-2)
    return np.asarray(joined, np.uint8)


@dataclass(frozen=True, slots=True)
class Dense1x4PackedNeon(LoneRow):
    """Product of a vector with constant weights of few bits, four filters at a time:
    `edgec/dense/dense_1x4_packed_neon.h`.

    Attributes:
        depth, units, bits: as for `LoneRow`; 2 to 4 bits.
        shift: right shift with a multiplier of 31 bits.
        residual_shift: shift of the addition that follows it; None: there is none.
        rescale16: how a sum is stored with 16x15 bits; None: with a multiplier of 31 bits.
        tflite31: the end of a layer whose codes are TensorFlow Lite Micro's; None: of all others.
        full_range: outputs need no bounds but those of their type.
        typed: the end of a layer that gives int16; None: of all others.
    """

    family: ClassVar[str] = "dense_1x4_packed_neon"
    template: ClassVar[Path] = template_beside(__file__, "dense_1x4_packed_neon")
    shift: int
    residual_shift: int | None = None
    rescale16: Rescale16 | None = None
    tflite31: Tflite31 | None = None
    full_range: bool = False
    typed: TypedEnd | None = None

    @property
    def middle(self) -> int:
        """A digit is a weight and this much."""
        return 1 << (self.bits - 1)

    @property
    def turns(self) -> int:
        """Turns of the loop over a filter."""
        return -(-self.depth // (vectors_of_turn(self.bits) * LANES))

    @property
    def stored_depth(self) -> int:
        """Columns of these turns."""
        return self.turns * vectors_of_turn(self.bits) * LANES

    @property
    def four_bytes(self) -> int:
        """Bytes of the weights of four filters."""
        return ROWS * self.turns * turn_bytes(self.bits)

    @property
    def fours(self) -> int:
        """Groups of four filters."""
        return -(-self.units // ROWS)

    @property
    def added_at(self) -> int:
        """Place of the residual in scratch, after the row of x; a multiple of 16."""
        return self.stored_depth

    def describe(self) -> str:
        """Operator, shapes and blocking in words, for a comment in C."""
        return f"Matrix product {self.shapes}, four filters at a time"


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A product of one row with weights that are few numbers, on a core with NEON, where packing
    saves flash.
    """
    weights = lone_row_weights(graph, node) if target.has_neon else None
    if weights is None or code_bits(weights) is None:
        return False
    found = spec(graph, node, target)
    saved = weights.size - found.fours * found.four_bytes
    return saved >= LEAST_SAVED_BYTES and found.scratch_bytes <= target.scratch_limit_bytes


def spec(graph: Graph, node: Node, _target: Target) -> Dense1x4PackedNeon:
    """The specification for a layer that `accepts` accepts."""
    window, weights = dense_window(graph, node), graph.constants[plain_inputs(node).w].array
    bits = code_bits(weights)
    assert bits is not None
    depth = window.taps * window.channels
    end, typed = end_of(graph, node), typed_end(graph, node)
    return Dense1x4PackedNeon(
        depth, len(weights), bits, *end, full_range=has_full_range(node), typed=typed
    )


def overlap(spec: Dense1x4PackedNeon) -> Distances:
    """All of x, and of the residual, is read before the first output is written."""
    return with_ending(spec, IN_PLACE)


def arguments(
    graph: Graph, node: Node, spec: Dense1x4PackedNeon, pool: ConstantPool
) -> tuple[Params, ...]:
    """Filters four by four, as digits."""

    def pack(weights: Array, bias: Array, multiplier: Array) -> tuple[Array, Array, Array]:
        digits = packed_digits(weights.reshape(len(weights), -1), spec.bits)
        return digits.view(np.int8), padded(bias), padded(multiplier)

    return weighted_arguments(graph, node, pool, pack, pad=padded)


def parts(spec: Dense1x4PackedNeon, _run: Run) -> Parts:
    """Groups of four filters, the last one filled up, and the vectors that they unpack."""
    vectors = spec.stored_depth // LANES
    return Parts(
        {
            "call": 1,
            "vector of the row": vectors,
            "four filters": spec.fours,
            f"vector of {spec.bits} bits": spec.fours * vectors,
            "addition": spec.out_elements if spec.adds else 0,
        }
    )


FAMILY = KernelFamily(
    spec_type=Dense1x4PackedNeon,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    types=reads_int8,
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    arguments=arguments,
    parts=parts,
    saves_flash=True,
)
