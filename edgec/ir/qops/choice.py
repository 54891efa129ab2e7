"""Comparisons, extremes and choices, element by element."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.ops.arithmetic import CompareKind, compared
from edgec.ir.qops.arithmetic import accumulators
from edgec.ir.qops.base import IntegerOperator, need_dtype, need_same_codes
from edgec.ir.qops.operands import CODES, MOVABLE, Operand, tensor
from edgec.ir.shapes import broadcast, need

_MOST_OFFSET = 1 << 29


@dataclass(frozen=True, slots=True)
class QCompare(IntegerOperator):
    """a, b with numpy broadcasting (either may be a constant); y int32, 1 or 0.

    Of raw codes ``y = a * a_multiplier ? b * b_multiplier + offset``, where ? is the relation; the
    multipliers are positive and at most 2^21 of int8 codes, 2^13 of others, so all of it fits
    int32.  Of int32 numbers ``y = a ? b``.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(*MOVABLE))
        b: T = field(metadata=tensor(*MOVABLE))

    kind: CompareKind
    a_multiplier: int = 1
    b_multiplier: int = 1
    offset: int = 0

    @staticmethod
    def bits(a: DType, b: DType) -> int:
        """Bits of the larger multiplier of codes of two types."""
        return 21 if a is b is DType.INT8 else 13

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
        types = inputs.a.dtype, inputs.b.dtype
        integers = DType.INT32 in types
        need(not integers or types == (DType.INT32,) * 2, "codes are compared with numbers")
        multipliers = self.a_multiplier, self.b_multiplier
        need(all(0 < m <= 1 << self.bits(*types) for m in multipliers), "bad multiplier")
        need(abs(self.offset) <= _MOST_OFFSET, "bad offset")
        plain = (*multipliers, self.offset) == (1, 1, 0)
        need(plain or not integers, "numbers are compared as they are")


@dataclass(frozen=True, slots=True)
class QIsEqual(IntegerOperator):
    """x int32: ``y = 1 if x == value else 0``, int32.

    Makes masks of token ids and of other masks.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=tensor(DType.INT32))

    value: int = 0

    @property
    def gives_integers(self) -> bool:
        return True

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        return np.asarray(inputs.x.array == self.value).astype(np.int32)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_dtype(output, DType.INT32)


@dataclass(frozen=True, slots=True)
class QExtremum(IntegerOperator):
    """a, b with numpy broadcasting (a constant has a quant): the larger code, or else the smaller.

    Operands and output share one quantization.
    """

    EACH_ELEMENT: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        a: T = field(metadata=tensor(*CODES))
        b: T = field(metadata=tensor(*CODES))

    largest: bool

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.a, inputs.b)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        select = np.maximum if self.largest else np.minimum
        return np.asarray(select(inputs.a.array, inputs.b.array))

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_dtype(output, inputs.a.dtype)
        need_same_codes((inputs.a, inputs.b), output)


@dataclass(frozen=True, slots=True)
class QWhere(IntegerOperator):
    """``y = condition != 0 ? a : b`` with numpy broadcasting; any operand may be a constant.

    a and b have the quantization of the output, or are int32 like it.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        condition: T = field(metadata=tensor(DType.INT32))
        a: T = field(metadata=tensor(*MOVABLE))
        b: T = field(metadata=tensor(*MOVABLE))

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
