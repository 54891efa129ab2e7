"""Bit planes: codes of one to three bits, each bit of 32 channels a word.

A tensor of B planes [..., C] is stored as words [..., B * ceil(C / 32)] of the type of packed
signs: first those of the lowest bit of all channels, then those of the next one.  In a word
channels lie as signs do (`ir.qops.signs`), bits beyond the last channel are 0.  Codes are unsigned,
0 stands for the real number 0.

With planes on both sides a sum of products is one of numbers of bits: of planes i and j those that
both have, times ``2^(i + j)``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.operands import Operand, parameter, value
from edgec.ir.qops.signs import SIGNS, packed, unpacked, words_of
from edgec.ir.shapes import need

MOST_PLANES = 3
"""Planes of a tensor: more bits a side take no less than bytes do."""


def packed_planes(codes: Array, planes: int) -> Array:
    """Words of codes.

    Args:
        codes: whole numbers [..., C] from 0 to ``2^planes - 1``.
        planes: bits of a code.

    Returns:
        uint32 [..., planes * ceil(C / 32)].
    """
    return np.concatenate([packed(codes >> plane & 1 > 0) for plane in range(planes)], axis=-1)


def unpacked_planes(words: Array, channels: int, planes: int) -> Array:
    """Codes of packed planes: int8 [..., C].

    Args:
        words: uint32 [..., planes * ceil(C / 32)].
        channels: C.
        planes: bits of a code.
    """
    each = words_of(channels)
    codes = np.zeros((*words.shape[:-1], channels), np.int8)
    for plane in range(planes):
        signs = unpacked(words[..., plane * each : (plane + 1) * each], channels)
        codes += (signs < 0).astype(np.int8) << plane
    return codes


@dataclass(frozen=True, slots=True)
class QPlanes(IntegerOperator):
    """x int8 [..., C], below int8 const [2^planes - 1, C]; y planes of codes [..., C].

    The code of an element is the number of k with ``x > below[k, c]``; below never falls from one k
    to the next.  So a change of scale by channel, with limits, is part of it.

    Attributes:
        planes: bits of a code.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """Input x; the greatest code of x that stays below each code of y, for each channel."""

        x: T = field(metadata=value(DType.INT8))
        below: T = field(metadata=parameter(DType.INT8))

    planes: int

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        fits = inputs.below == ((1 << self.planes) - 1, *inputs.x[-1:])
        need(fits, "the ends of the codes are not [2^planes - 1, C]")
        return (*inputs.x[:-1], self.planes * words_of(inputs.x[-1]))

    def compute(self, inputs: Inputs[Operand]) -> Array:
        reached = [inputs.x.array > row for row in inputs.below.array]
        return packed_planes(np.sum(reached, axis=0), self.planes)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need(0 < self.planes <= MOST_PLANES, f"{self.planes} planes")
        need(output.dtype is SIGNS and output.quant is None, "the output is no tensor of planes")
