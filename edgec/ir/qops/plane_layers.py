"""Convolutions and products of matrices whose operands are bit planes (`ir.qops.planes`)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.add import AddParams
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.binary_layers import CodesEnds, CodesForm
from edgec.ir.qops.convolution import conv_sums
from edgec.ir.qops.forms import Requant31
from edgec.ir.qops.layer_end import finished, need_end
from edgec.ir.qops.operands import CODES, Operand, parameter, tensor, value
from edgec.ir.qops.planes import MOST_PLANES, packed_planes, unpacked_planes
from edgec.ir.qops.signs import SIGNS, words_of
from edgec.ir.shapes import Pads2D, Pair, conv_shape, gemm_shape, need

LARGEST_PLANE_SUM = (1 << 15) - 1
"""Kernels hold in 16 bits what they add up (`PlaneLayer.largest`)."""


@dataclass(frozen=True, slots=True)
class PlaneLayer(IntegerOperator):
    """A layer of bit planes: what convolutions and products of matrices share.

    A code u of a weight stands for ``least + unit * u``, one of an input for itself; taps outside
    the image add nothing:  ``acc = sum x * (least + unit * u)``.  How it ends:

    * codes: `output` is a form; then ``y = output(b[o] + acc)`` with multiplier[o], or what follows
      of it with a residual (`ir.qops.layer_end`).
    * planes: `output` is None, and b int32 [2^y_planes - 1, O] holds thresholds, none below the one
      before it; the code of an output is the number of k with ``acc >= b[k, o]``.

    Attributes:
        channels: codes in the last axis of x, where the words hold more bits.
        x_planes, w_planes: bits of an input and of a weight.
        least, unit: what the codes of weights stand for.
        output: the form, or None.
        y_planes: bits of an output where there is no form; else 0.
        residual: the addition at the end; None: there is none.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """Planes x; planes w, outputs O on axis 0; biases or thresholds b; multiplier of each
        output; what is added.
        """

        x: T = field(metadata=value(SIGNS))
        w: T = field(metadata=parameter(SIGNS))
        b: T = field(metadata=parameter(DType.INT32))
        multiplier: T | None = field(default=None, metadata=parameter(DType.INT32))
        residual: T | None = field(default=None, metadata=tensor(*CODES))

    channels: int
    x_planes: int
    w_planes: int
    least: int
    unit: int
    output: Requant31 | None
    y_planes: int = 0
    residual: AddParams | None = None

    def depth(self, w: Shape) -> int:
        """Products in a sum, from the shape of the weights."""
        return math.prod(w[1:-1]) * self.channels

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return math.prod(output[:-1]) * inputs.w[0] * self.depth(inputs.w)

    @property
    def slope(self) -> int:
        """Growth of twice a sum for each unit of x, beside the bits in which planes differ.

        With T the sum of ``2^(i + j)`` times the bits in which planes i of x and j of w differ, S
        that of x and U that of w over a window, the bits that both have are half of what either
        has less those that differ, so ``2 acc = unit * (2^x_planes - 1) * U + slope * S - unit *
        T``.
        """
        return self.unit * ((1 << self.w_planes) - 1) + 2 * self.least

    @property
    def common(self) -> int:
        """The greatest number that `slope` and `unit` are multiples of."""
        return math.gcd(self.slope, self.unit)

    def largest(self, depth: int) -> int:
        """The largest magnitude of what a kernel adds up for a number of products in 16 bits."""
        reach = depth * ((1 << self.x_planes) - 1)
        each = self.unit * ((1 << self.w_planes) - 1) + abs(self.slope)
        return reach * each // self.common

    def ended(self, shape: Shape, inputs: Inputs[Shape]) -> Shape:
        """The shape of y, where that of a sum for each output is `shape`."""
        words = words_of(self.channels)
        need(inputs.w[-1] == self.w_planes * words, "channels and words disagree")
        need(inputs.residual in (None, shape), "residual and output differ in shape")
        outputs = inputs.w[:1]
        if self.output is not None:
            need(inputs.b == inputs.multiplier == outputs, "bias or multiplier is not [O]")
            return shape
        ends = (1 << self.y_planes) - 1
        need(inputs.b == (ends, *outputs), "the thresholds are not [2^y_planes - 1, O]")
        return (*shape[:-1], self.y_planes * words_of(shape[-1]))

    def end(self, sums: Array, inputs: Inputs[Operand]) -> Array:
        """The output from the sums acc [..., O]."""
        if self.output is None or inputs.multiplier is None:
            reached = [sums >= row for row in inputs.b.array]
            return packed_planes(np.sum(reached, axis=0), self.y_planes)
        ends = CodesEnds(inputs.b, inputs.multiplier, inputs.residual)
        return finished(CodesForm(self.output, self.residual), sums, ends)

    def operands(self, inputs: Inputs[Operand]) -> tuple[Array, Array]:
        """Inputs int8 and weights int64, as the numbers that they stand for."""
        x = unpacked_planes(inputs.x.array, self.channels, self.x_planes)
        return x, self.weights(inputs.w.array)

    def weights(self, words: Array) -> Array:
        """The numbers that planes of weights stand for: int64 [O, ..., I]."""
        codes = unpacked_planes(words, self.channels, self.w_planes)
        return self.least + self.unit * codes.astype(np.int64)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        for planes in (self.x_planes, self.w_planes):
            need(0 < planes <= MOST_PLANES, f"{planes} planes")
        need(0 < self.unit < 1 << 9 and abs(self.least) < 1 << 9, "bad numbers of weights")
        fits = self.largest(self.depth(inputs.w.shape)) <= LARGEST_PLANE_SUM
        need(fits, "sums need more than 16 bits")
        if self.output is None:
            alone = inputs.multiplier is None and inputs.residual is None and self.residual is None
            need(alone and 0 < self.y_planes <= MOST_PLANES, "more than planes at the end")
            need(output.dtype is SIGNS and output.quant is None, "the output is no planes")
            return
        need(self.y_planes == 0, "planes after a form")
        if inputs.multiplier is None:
            raise ValueError("a form without multipliers")
        form = CodesForm(self.output, self.residual)
        need_end(form, inputs.multiplier, output, inputs.residual, None)


@dataclass(frozen=True, slots=True)
class QPlaneConv(PlaneLayer):
    """x planes [N, H, W, I], w planes const [O, KH, KW, I], b int32 const [O] or [2^y_planes - 1,
    O], multiplier int32 const [O] (only with a form), residual [N, OH, OW, O] (only with
    `residual`); y [N, OH, OW, O].
    """

    strides: Pair = (1, 1)
    pads: Pads2D = (0, 0, 0, 0)
    dilations: Pair = (1, 1)

    @property
    def group(self) -> int:
        """All channels meet all filters."""
        return 1

    def infer_shape(self, inputs: PlaneLayer.Inputs[Shape]) -> Shape:
        words = words_of(self.channels)
        need(inputs.x[-1] == self.x_planes * words, "channels and words of x disagree")
        x, w = ((*shape[:-1], words) for shape in (inputs.x, inputs.w))
        return self.ended(conv_shape(x, w, self), inputs)

    def compute(self, inputs: PlaneLayer.Inputs[Operand]) -> Array:
        return self.end(conv_sums(self, *self.operands(inputs)).astype(np.int64), inputs)


@dataclass(frozen=True, slots=True)
class QPlaneGemm(PlaneLayer):
    """x planes [..., K], w planes const [N, K], b int32 const [N] or [2^y_planes - 1, N],
    multiplier int32 const [N] (only with a form), residual [..., N] (only with `residual`); y
    [..., N].
    """

    def infer_shape(self, inputs: PlaneLayer.Inputs[Shape]) -> Shape:
        words = words_of(self.channels)
        need(inputs.x[-1] == self.x_planes * words, "depth and words of x disagree")
        x, w = ((*shape[:-1], words) for shape in (inputs.x, inputs.w))
        return self.ended(gemm_shape(x, w), inputs)

    def compute(self, inputs: PlaneLayer.Inputs[Operand]) -> Array:
        x, w = self.operands(inputs)
        return self.end((x.astype(np.float64) @ w.astype(np.float64).T).astype(np.int64), inputs)
