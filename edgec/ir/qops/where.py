"""Choice between two tensors, element by element."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_dtype, need_same_codes
from edgec.ir.qops.operands import Operand, tensor
from edgec.ir.shapes import broadcast, need

_CHOSEN = (DType.INT8, DType.INT32)


@dataclass(frozen=True, slots=True)
class QWhere(IntegerOperator):
    """``y = condition != 0 ? a : b`` with numpy broadcasting; any operand may be a constant.

    a and b have the quantization of the output, or are int32 like it.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        condition: T = field(metadata=tensor(DType.INT32))
        a: T = field(metadata=tensor(*_CHOSEN))
        b: T = field(metadata=tensor(*_CHOSEN))

    KEEPS_INTEGERS: ClassVar[bool] = True

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.condition, broadcast(inputs.a, inputs.b))

    def compute(self, inputs: Inputs[Operand]) -> Array:
        return np.where(inputs.condition.array != 0, inputs.a.array, inputs.b.array)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need(inputs.a.dtype is inputs.b.dtype, "codes and numbers are mixed")
        need_dtype(output, inputs.a.dtype)
        if output.dtype is not DType.INT32:
            need_same_codes((inputs.a, inputs.b), output)
