"""Mean over windows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, requantize
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import accumulators, int8_clamped
from edgec.ir.qops.base import IntegerOperator, need_clamp, need_shift
from edgec.ir.qops.convolution import padded_image, window_taps
from edgec.ir.qops.operands import Operand, parameter, value
from edgec.ir.shapes import Pads2D, Pair, need, pool_shape


@dataclass(frozen=True, slots=True)
class QAveragePool(IntegerOperator):
    """x [N, H, W, C], multiplier [KH*KW + 1].

    ``y = clamp(zy + requantize(sum (x - zx), multiplier[count], shift))``; the sum runs over the
    taps inside the image and count is their number (KH*KW everywhere if count_include_pad).  A
    count of 0 gives zy.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))
        multiplier: T = field(metadata=parameter(DType.INT32))

    kernel: Pair
    strides: Pair
    pads: Pads2D
    dilations: Pair
    count_include_pad: bool
    shift: int
    act_min: int = INT8_MIN
    act_max: int = INT8_MAX

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        taps = self.kernel[0] * self.kernel[1]
        need(inputs.multiplier == (taps + 1,), "one multiplier per tap count is needed")
        return pool_shape(inputs.x, self.kernel, self)

    def compute(self, inputs: Inputs[Operand], y_zero_point: int) -> Array:
        x = inputs.x.centred
        total = sum(window_taps(self, self.kernel, padded_image(self, x, 0)), np.int64(0))
        outside = int(self.count_include_pad)
        counted = padded_image(self, np.ones_like(x[:1, :, :, :1]), outside)
        count = sum(window_taps(self, self.kernel, counted), np.int64(0))
        multiplier = inputs.multiplier.array[count]
        scaled = requantize(accumulators(np.asarray(total)), multiplier, self.shift)
        return int8_clamped(y_zero_point + scaled, self.act_min, self.act_max)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_clamp(self.act_min, self.act_max)
        need_shift(self.shift)
