"""Signs: tensors whose elements are -1 or 1, 32 to a word.

The order of bits is said here alone.  A tensor of signs [..., C] is stored as `SIGNS` words
[..., ceil(C / 32)]: channel c is bit ``c % 32`` of word ``c // 32``, the least significant bit
first.  The bit is 1 for -1, as the sign bit of two's complement, and 0 for 1.  Bits beyond the last
channel are 0, in activations and in weights: such a pair is alike, and counts nothing.

The product of two signs is -1 where their bits differ.  So with K products a sum is
``K - 2 * (number of bits in which the two sides differ)``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.operands import CODES, Operand, parameter, value
from edgec.ir.shapes import need

SIGNS = DType.UINT32
"""Element type of packed signs: words of `WORD_BITS`."""
WORD_BITS = 32


def words_of(channels: int) -> int:
    """Words that the signs of a number of channels take."""
    return -(-channels // WORD_BITS)


def packed(negative: Array) -> Array:
    """Words of signs.

    Args:
        negative: bool [..., C], true where an element is -1.

    Returns:
        uint32 [..., ceil(C / 32)].
    """
    channels = negative.shape[-1]
    missing = words_of(channels) * WORD_BITS - channels
    padded = np.pad(negative, [*[(0, 0)] * (negative.ndim - 1), (0, missing)])
    octets = np.packbits(padded, axis=-1, bitorder="little")
    return np.ascontiguousarray(octets).view("<u4").astype(np.uint32)


def unpacked(words: Array, channels: int) -> Array:
    """Elements of packed signs: int8 [..., C], -1 or 1.

    Args:
        words: uint32 [..., ceil(C / 32)].
        channels: C.
    """
    octets = np.ascontiguousarray(words.astype("<u4")).view(np.uint8)
    bits = np.unpackbits(octets, axis=-1, bitorder="little", count=channels)
    return np.asarray(1 - 2 * bits.astype(np.int8))


def is_binary(weights: Array) -> bool:
    """Whether the weights [O, ...] of each output are plus or minus one number that is not zero."""
    rows = np.abs(weights.reshape(len(weights), -1), dtype=np.float64)
    return bool(rows.size and (rows[:, :1] > 0).all() and (rows == rows[:, :1]).all())


@dataclass(frozen=True, slots=True)
class QSigns(IntegerOperator):
    """x int8 or int16 [..., C], least and most const [C] of the type of x; y signs [..., C].

    ``y = -1 where least[c] <= x <= most[c], else 1``, packed.  An empty interval has least > most:
    the channel is 1 everywhere.  So thresholds are per channel and may be passed upwards or
    downwards, as a batch normalization before a sign has them.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """Input x; ends of the interval of codes that become -1, of each channel."""

        x: T = field(metadata=value(*CODES))
        least: T = field(metadata=parameter(*CODES))
        most: T = field(metadata=parameter(*CODES))

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(inputs.least == inputs.most == inputs.x[-1:], "an end of the intervals is not [C]")
        return (*inputs.x[:-1], words_of(inputs.x[-1]))

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x.array
        return packed((x >= inputs.least.array) & (x <= inputs.most.array))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need(
            inputs.least.dtype is inputs.most.dtype is inputs.x.dtype,
            "the ends of the intervals are of another type",
        )
        need(output.dtype is SIGNS and output.quant is None, "the output is no tensor of signs")
