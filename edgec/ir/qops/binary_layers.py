"""Convolutions and products of matrices whose weights and inputs are signs (`ir.qops.signs`)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.add import AddParams
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.convolution import conv_sums
from edgec.ir.qops.forms import Requant31
from edgec.ir.qops.layer_end import finished, need_end
from edgec.ir.qops.operands import CODES, Operand, parameter, tensor, value
from edgec.ir.qops.signs import SIGNS, packed, unpacked, words_of
from edgec.ir.shapes import Pads2D, Pair, check_per_output, conv_shape, gemm_shape, need

LARGEST_DEPTH = 16000
"""Most products in a sum: twice as many, and what padding takes away, are numbers of 16 bits."""


@dataclass(frozen=True, slots=True)
class CodesForm:
    """The end of a layer of bits that gives codes (`layer_end.Layer`)."""

    output: Requant31
    residual: AddParams | None


@dataclass(frozen=True, slots=True)
class CodesEnds:
    """The operands of that (`layer_end.Ends`)."""

    b: Operand
    multiplier: Operand
    residual: Operand | None
    table: None = None


@dataclass(frozen=True, slots=True)
class BinaryLayer(IntegerOperator):
    """A layer of signs: what convolutions and products of matrices share.

    ``acc = b[o] + step * sum x * w``, x and w being -1 or 1; taps outside the image add nothing.
    How it ends:

    * codes: `output` is a form; then ``y = output(acc)`` with multiplier[o], or what follows of it
      with a residual (`ir.qops.layer_end`).
    * signs: `output` is None, step is 1; then ``y = -1 where acc < 0, else 1``, packed.

    Attributes:
        channels: signs in the last axis of x, where the words hold more bits.
        output: the form, or None.
        step: what one product adds to the accumulator of the layer with codes.
        residual: the addition at the end; None: there is none.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """Signs x; signs w, outputs O on axis 0; bias b and multiplier of each output; what is
        added.
        """

        x: T = field(metadata=value(SIGNS))
        w: T = field(metadata=parameter(SIGNS))
        b: T = field(metadata=parameter(DType.INT32))
        multiplier: T | None = field(default=None, metadata=parameter(DType.INT32))
        residual: T | None = field(default=None, metadata=tensor(*CODES))

    channels: int
    output: Requant31 | None
    step: int = 1
    residual: AddParams | None = None

    def depth(self, w: Shape) -> int:
        """Products in a sum, from the shape of the weights."""
        return math.prod(w[1:-1]) * self.channels

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return math.prod(output[:-1]) * inputs.w[0] * self.depth(inputs.w)

    def ended(self, shape: Shape, inputs: Inputs[Shape]) -> Shape:
        """The shape of y, where that of a sum for each output is `shape`."""
        need(words_of(self.channels) == inputs.w[-1], "channels and words disagree")
        check_per_output(inputs.w, inputs.b, inputs.multiplier)
        need(inputs.residual in (None, shape), "residual and output differ in shape")
        return shape if self.output is not None else (*shape[:-1], words_of(shape[-1]))

    def end(self, sums: Array, inputs: Inputs[Operand]) -> Array:
        """The output from the sums of products of signs [..., O]."""
        if self.output is None or inputs.multiplier is None:
            return packed(sums + inputs.b.array < 0)
        ends = CodesEnds(inputs.b, inputs.multiplier, inputs.residual)
        return finished(CodesForm(self.output, self.residual), sums * self.step, ends)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need(self.depth(inputs.w.shape) <= LARGEST_DEPTH, "too many products in a sum")
        need(0 < self.step <= 1 << 14, f"bad step {self.step}")
        if self.output is None:
            alone = inputs.multiplier is None and inputs.residual is None and self.residual is None
            need(alone and self.step == 1, "more than signs at the end")
            need(output.dtype is SIGNS and output.quant is None, "the output is no tensor of signs")
            return
        if inputs.multiplier is None:
            raise ValueError("a form without multipliers")
        form = CodesForm(self.output, self.residual)
        need_end(form, inputs.multiplier, output, inputs.residual, None)


@dataclass(frozen=True, slots=True)
class QBinaryConv(BinaryLayer):
    """x signs [N, H, W, I], w signs const [O, KH, KW, I], b int32 const [O], multiplier int32 const
    [O] (only with a form), residual [N, OH, OW, O] (only with `residual`); y [N, OH, OW, O].

    The sum is over the taps inside the image and the channels, or where `pads_ones` over all taps:
    signs outside the image are 1 then.
    """

    strides: Pair = (1, 1)
    pads: Pads2D = (0, 0, 0, 0)
    dilations: Pair = (1, 1)
    pads_ones: bool = False

    @property
    def group(self) -> int:
        """All channels meet all filters."""
        return 1

    def infer_shape(self, inputs: BinaryLayer.Inputs[Shape]) -> Shape:
        return self.ended(conv_shape(inputs.x, inputs.w, self), inputs)

    def compute(self, inputs: BinaryLayer.Inputs[Operand]) -> Array:
        x, w = (unpacked(each.array, self.channels) for each in (inputs.x, inputs.w))
        form: QBinaryConv = self
        if self.pads_ones:
            top, left, bottom, right = self.pads
            x = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=1)
            form = replace(self, pads=(0, 0, 0, 0))
        return self.end(conv_sums(form, x, w).astype(np.int64), inputs)


@dataclass(frozen=True, slots=True)
class QBinaryGemm(BinaryLayer):
    """x signs [..., K], w signs const [N, K], b int32 const [N], multiplier int32 const [N] (only
    with a form), residual [..., N] (only with `residual`); y [..., N].
    """

    def infer_shape(self, inputs: BinaryLayer.Inputs[Shape]) -> Shape:
        return self.ended(gemm_shape(inputs.x, inputs.w), inputs)

    def compute(self, inputs: BinaryLayer.Inputs[Operand]) -> Array:
        x, w = (unpacked(each.array, self.channels) for each in (inputs.x, inputs.w))
        sums = x.astype(np.float64) @ w.astype(np.float64).T
        return self.end(sums.astype(np.int64), inputs)
