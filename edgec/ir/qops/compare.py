"""Comparison of two tensors."""

from __future__ import annotations

from dataclasses import dataclass, field

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.ops.compare import CompareKind, compared
from edgec.ir.qops.arithmetic import accumulators
from edgec.ir.qops.base import IntegerOperator, need_dtype
from edgec.ir.qops.operands import Operand, tensor
from edgec.ir.shapes import broadcast, need

COMPARE_BITS = 21
"""Bits of the larger multiplier of a comparison of codes of different scales."""


@dataclass(frozen=True, slots=True)
class QCompare(IntegerOperator):
    """a, b with numpy broadcasting (either may be a constant); y int32, 1 or 0.

    Of raw int8 codes ``y = a * a_multiplier ? b * b_multiplier + offset``, where ? is the relation;
    the multipliers are positive and at most 2^21, so all of it fits int32.  Of int32 numbers
    ``y = a ? b``.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(DType.INT8, DType.INT32))
        b: T = field(metadata=tensor(DType.INT8, DType.INT32))

    kind: CompareKind
    a_multiplier: int = 1
    b_multiplier: int = 1
    offset: int = 0

    @property
    def gives_integers(self) -> bool:
        return True

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        a = accumulators(inputs.a.wide * self.a_multiplier)
        b = accumulators(inputs.b.wide * self.b_multiplier + self.offset)
        return compared(self.kind, a, b)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_dtype(output, DType.INT32)
        need(inputs.a.dtype is inputs.b.dtype, "codes are compared with numbers")
        multipliers = self.a_multiplier, self.b_multiplier
        need(all(0 < m <= 1 << COMPARE_BITS for m in multipliers), "bad multiplier")
        need(abs(self.offset) <= 1 << (COMPARE_BITS + 8), "bad offset")
        plain = (*multipliers, self.offset) == (1, 1, 0)
        need(inputs.a.dtype is DType.INT8 or plain, "numbers are compared as they are")
