"""Dot products of whole windows of int16 with weights of int16."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT32_MAX, saturate
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_zero_point
from edgec.ir.qops.layer_end import need_single
from edgec.ir.qops.operands import Operand, parameter, value
from edgec.ir.qops.tflite_forms import TwoRoundings31
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class QWindowDot(IntegerOperator):
    """x int16 [N, H, W, C], whose zero point is 0, w int16 const [O, H, W, C/group], b int32 const
    [O]; y [N, 1, 1, O]: a convolution in groups whose window is all of x.

    ``acc = min(max(b[o] + sum x * w, -(2^31 - 1)), 2^31 - 1)``, the sum in 64 bits, and
    ``y = output(acc)`` with one multiplier, whose shift is to the right.

    TensorFlow Lite's SVDF over time; it adds up in 32 bits, and says nothing of what leaves them.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT16))
        w: T = field(metadata=parameter(DType.INT16))
        b: T = field(metadata=parameter(DType.INT32))

    group: int
    output: TwoRoundings31
    multiplier: int

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(len(inputs.x) == len(inputs.w) == 4, "x and w have four axes")
        outputs, depth = inputs.w[0], inputs.w[3]
        fits = inputs.w[1:3] == inputs.x[1:3] and depth * self.group == inputs.x[3]
        need(fits and outputs % self.group == 0, "w does not fit x and the groups")
        need(inputs.b == (outputs,), "a bias is needed for each output")
        return (inputs.x[0], 1, 1, outputs)

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * math.prod(inputs.w[1:])

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x, w = inputs.x.wide, inputs.w.wide
        each, depth = len(w) // self.group, w.shape[-1]
        groups = x.reshape(*x.shape[:3], self.group, depth)
        filters = w.reshape(self.group, each, *w.shape[1:])
        total = np.einsum("nhwgd,gehwd->nge", groups, filters).reshape(len(x), 1, 1, len(w))
        acc = saturate(total + inputs.b.wide, -INT32_MAX, INT32_MAX)
        return self.output.apply(acc, self.multiplier).astype(self.output.dtype.numpy)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_single(self.output, self.multiplier, 0, output)
        need(max(self.output.shifts) <= 0, "a shift to the left")
        need_zero_point(inputs.x, 0, "x")
