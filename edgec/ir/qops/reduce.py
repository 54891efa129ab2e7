"""Mean, sum and maximum over axes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.ops import ReduceKind
from edgec.ir.qops.arithmetic import accumulators
from edgec.ir.qops.base import IntegerOperator, need_same_codes
from edgec.ir.qops.forms import Requant31, Requantization, codes
from edgec.ir.qops.layer_end import need_single
from edgec.ir.qops.operands import CODES, Operand, largest_code, tensor
from edgec.ir.shapes import need, reduced_shape

_DIFFERENCE = 256


@dataclass(frozen=True, slots=True)
class QReduce(IntegerOperator):
    """x, over `axes`, per tensor.

    MEAN and SUM: ``y = output(bias + sum (x - zx))`` with one multiplier; the bias is 0 where the
    form has a zero point.  x is int8, or int16 for `Rescale16x15`.
    MAX: the maximum, same quantization on both sides, x int8; `output` is None.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(*CODES))

    kind: ReduceKind
    axes: tuple[int, ...]
    keepdims: bool
    output: Requantization | None = None
    multiplier: int = 0
    bias: int = 0

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(bool(self.axes), "no axes")
        return reduced_shape(inputs.x, self.axes, self.keepdims)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x
        if self.output is None:
            return np.asarray(x.array.max(axis=self.axes, keepdims=self.keepdims))
        total = np.asarray(x.centred.sum(axis=self.axes, keepdims=self.keepdims))
        return codes(self.output, accumulators(total) + self.bias, self.multiplier)

    def bounds(self, inputs: Inputs[Tensor]) -> dict[str, float]:
        if self.output is None:
            return {}
        x = inputs.x
        # An int16 tensor has zero point 0.
        span = largest_code(x.dtype) if x.dtype is DType.INT16 else _DIFFERENCE
        acc = span * math.prod(x.shape[axis] for axis in self.axes) + abs(self.bias)
        return self.output.bounds(float(acc), float(abs(self.multiplier)))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        largest = self.kind is ReduceKind.MAX
        need((self.output is None) is largest, "a maximum, and it alone, needs no rescaling")
        if self.output is None:
            need_same_codes((inputs.x,), output)
        else:
            need_single(self.output, self.multiplier, self.bias, output)
        if isinstance(self.output, Requant31 | None):
            need(inputs.x.dtype is DType.INT8, "x is not int8")
