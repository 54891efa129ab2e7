"""Mean over windows."""

from __future__ import annotations

from dataclasses import dataclass, field

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.convolution import window_sums
from edgec.ir.qops.forms import Requantization, codes
from edgec.ir.qops.layer_end import need_form
from edgec.ir.qops.operands import MULTIPLIERS, Operand, parameter, value
from edgec.ir.shapes import Pads2D, Pair, need, pool_shape


@dataclass(frozen=True, slots=True)
class QAveragePool(IntegerOperator):
    """x [N, H, W, C], multiplier [KH*KW + 1].

    ``y = output(sum (x - zx))`` with multiplier[count]; the sum runs over the taps inside the image
    and count is their number (KH*KW everywhere if count_include_pad).  A count of 0 gives the code
    of 0.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(DType.INT8))
        multiplier: T = field(metadata=parameter(*MULTIPLIERS))

    kernel: Pair
    strides: Pair
    pads: Pads2D
    dilations: Pair
    count_include_pad: bool
    output: Requantization

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        taps = self.kernel[0] * self.kernel[1]
        need(inputs.multiplier == (taps + 1,), "one multiplier per tap count is needed")
        return pool_shape(inputs.x, self.kernel, self)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        total, count = window_sums(self, self.kernel, inputs.x.centred, self.count_include_pad)
        return codes(self.output, total, inputs.multiplier.array[count])

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_form(self.output, inputs.multiplier, output)
