"""Convolution with integer weights."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.add import AddParams
from edgec.ir.qops.base import IntegerOperator, need_zero_point
from edgec.ir.qops.convolution import conv_sums
from edgec.ir.qops.forms import Rescale16x15
from edgec.ir.qops.operands import CODES, Operand, parameter, table, tensor, value
from edgec.ir.qops.weighted_ends import (
    finished,
    need_end_shapes,
    need_narrow_end,
    need_numbers,
    requantized,
    weighted_bounds,
)
from edgec.ir.shapes import Pads2D, Pair, check_per_output, conv_shape, need


@dataclass(frozen=True, slots=True)
class QConv(IntegerOperator):
    """x [N, H, W, I], weight int8 const [O, KH, KW, I/group], bias [O], multiplier [O],
    residual [N, OH, OW, O] (only with `residual`).

    ``acc = bias[o] + sum (x - zx) * weight``; ``t = clamp(z + requantize(acc, multiplier[o],
    shift))`` with ``z = y_zero_point``.  Without `residual` y = t.  With it y is the `AddParams`
    sum of a = t and b = residual: exactly a `QConv` followed by a `QAdd`, without the tensor
    between them.  (So `y_zero_point` is the zero point of t, not of the output.)

    Depthwise: group == I and I/group == 1; O may be a multiple of I.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))
        weight: T = field(metadata=parameter(DType.INT8))
        bias: T = field(metadata=parameter(DType.INT32))
        multiplier: T = field(metadata=parameter(DType.INT32))
        residual: T | None = field(default=None, metadata=value(DType.INT8))

    strides: Pair
    pads: Pads2D
    dilations: Pair
    group: int
    shift: int
    y_zero_point: int
    act_min: int = INT8_MIN
    act_max: int = INT8_MAX
    residual: AddParams | None = None

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        check_per_output(inputs.weight, inputs.bias, inputs.multiplier)
        y = conv_shape(inputs.x, inputs.weight, self)
        need(inputs.residual in (None, y), "residual and output differ in shape")
        return y

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * math.prod(inputs.weight[1:])

    def compute(self, inputs: Inputs[Operand], y_zero_point: int) -> Array:
        total = conv_sums(self, inputs.x.centred, inputs.weight.array)
        return self.finished(total, inputs.bias, inputs.multiplier, inputs.residual)

    def finished(
        self, total: Array, bias: Operand, multiplier: Operand, residual: Operand | None
    ) -> Array:
        """The output from sums of products [N, OH, OW, O]; int8."""
        plain = requantized(self, total, bias.array, multiplier.array)
        if self.residual is None or residual is None:
            return plain
        return self.residual.apply(plain, residual.array)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        self.verify_end(inputs.residual, output)

    def verify_end(self, residual: Tensor | None, output: Value) -> None:
        """Check the numbers and the zero points after the sums, as `verify`."""
        need_numbers(self)
        need((residual is None) is (self.residual is None), "wrong number of inputs: residual")
        if self.residual is None or residual is None:
            need_zero_point(output, self.y_zero_point, "the output")
            return
        self.residual.verify()
        need(self.residual.a_zero_point == self.y_zero_point, "zero point of t differs")
        need_zero_point(residual, self.residual.b_zero_point, "the residual")
        need_zero_point(output, self.residual.y_zero_point, "the output")


@dataclass(frozen=True, slots=True)
class QConv16x15(IntegerOperator):
    """x int8 [N, H, W, I], weight int8 const [O, KH, KW, I/group], then as `QGemm16x15`; residual
    [N, OH, OW, O].

    ``acc = bias[o] + sum (x - zx) * weight`` over the taps inside the image, x quantized per
    tensor.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(DType.INT8))
        weight: T = field(metadata=parameter(DType.INT8))
        bias: T = field(metadata=parameter(DType.INT32))
        multiplier: T = field(metadata=parameter(DType.INT16))
        residual: T | None = field(default=None, metadata=tensor(*CODES))
        table: T | None = field(default=None, metadata=table(DType.INT8))

    strides: Pair
    pads: Pads2D
    dilations: Pair
    group: int
    output: Rescale16x15
    table: bool = False
    residual: bool = False

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        check_per_output(inputs.weight, inputs.bias, inputs.multiplier)
        y = conv_shape(inputs.x, inputs.weight, self)
        need_end_shapes(inputs.table, inputs.residual, y)
        return y

    def macs(self, inputs: Inputs[Shape], output: Shape) -> int:
        return math.prod(output) * math.prod(inputs.weight[1:])

    def compute(self, inputs: Inputs[Operand], y_zero_point: int) -> Array:
        return finished(self, conv_sums(self, inputs.x.centred, inputs.weight.array), inputs)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        # Kernels may take the zero point out of each input or out of the bias.
        return weighted_bounds(self.output, inputs.weight, inputs.bias, inputs.multiplier, 256)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_narrow_end(self, inputs.table, inputs.residual, output)
