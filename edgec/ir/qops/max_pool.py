"""Maximum over windows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_same_codes
from edgec.ir.qops.convolution import padded_image, window_taps
from edgec.ir.qops.operands import CODES, Operand, value
from edgec.ir.shapes import Pads2D, Pair, pool_shape


@dataclass(frozen=True, slots=True)
class QMaxPool(IntegerOperator):
    """x int8 or int16 [N, H, W, C]; maximum of the taps inside the image.

    The quantization is the same on both sides.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*CODES))

    kernel: Pair
    strides: Pair
    pads: Pads2D
    dilations: Pair

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return pool_shape(inputs.x, self.kernel, self)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        padded = padded_image(self, inputs.x.array, np.iinfo(inputs.x.array.dtype).min)
        return np.asarray(np.maximum.reduce(list(window_taps(self, self.kernel, padded))))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes((inputs.x,), output)
