"""Numbers of one scale written in another one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.arithmetic import accumulators, half_step
from edgec.ir.qops.base import IntegerOperator
from edgec.ir.qops.forms import LONGEST_SHIFT, Rescale16x15
from edgec.ir.qops.layer_end import need_single
from edgec.ir.qops.operands import CODES, Operand, largest_code, table, tensor
from edgec.ir.qops.stream import largest_shift, need_shifts
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class QRescale(IntegerOperator):
    """x int8 or int16, raw codes: ``y = output(bias + x)`` with one multiplier.

    Between the stream and an int8 tensor, in either direction.  With `before` or `after`, never
    both, k int8 const [C] is a second input, that of the stream of int8:

    * before: x is of the stream, ``y = output(bias + (x << k[c]))``.
    * after: y is, ``y = min(max(rshr(a * multiplier, shift + k[c]), low), high)``; shift + k[c] is
      30 at most.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(*CODES))
        k: T | None = field(default=None, metadata=table(DType.INT8))

    output: Rescale16x15
    multiplier: int
    bias: int = 0
    before: bool = False
    after: bool = False

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(inputs.k in (None, inputs.x[-1:]), "a shift a channel is needed")
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x.wide
        shifts: Array | int = 0 if inputs.k is None else inputs.k.wide
        acc = accumulators(x << shifts if self.before else x) + self.bias
        more = shifts if self.after else 0
        return self.output.apply(acc, self.multiplier, more=more).astype(self.output.dtype.numpy)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        most = 0 if inputs.k is None else largest_shift(inputs.k)
        acc = (largest_code(inputs.x.dtype) << (most if self.before else 0)) + abs(self.bias)
        found = self.output.bounds(float(acc), float(abs(self.multiplier)))
        if self.after:
            shift = self.output.shift + most
            found["the rescaled accumulator"] += half_step(shift)
            found["a shift"] = float(shift) if shift <= LONGEST_SHIFT else math.inf
        return found

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_single(self.output, self.multiplier, self.bias, output)
        need(not (self.before and self.after), "shifts before and after")
        need_shifts(inputs.k, self.before or self.after)
