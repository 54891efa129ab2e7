"""Operators that move codes without computing."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir.graph import Tensor, Value
from edgec.ir.length import shortened
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.ops import PadMode
from edgec.ir.qops.base import IntegerOperator, need_same_codes
from edgec.ir.qops.operands import CODES, MOVABLE, Operand, tensor, value
from edgec.ir.rows import COLUMNS, EACH_ROW, ROWS, RowWindow
from edgec.ir.shapes import concat_shape, need, padded_shape


@dataclass(frozen=True, slots=True)
class QConcat(IntegerOperator):
    """Along `axis`; all inputs (constants are int8) and the output share one quantization."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        parts: tuple[T, ...] = field(default=(), metadata=tensor(*CODES))

    axis: int

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return concat_shape(inputs.parts, self.axis)

    def row_window(self, inputs: Inputs[Shape]) -> RowWindow | None:
        return EACH_ROW if self.axis > ROWS else None

    def column_window(self, inputs: Inputs[Shape]) -> RowWindow | None:
        return EACH_ROW if self.axis > COLUMNS else None

    def compute(self, inputs: Inputs[Operand]) -> Array:
        return np.concatenate([part.array for part in inputs.parts], axis=self.axis)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes(inputs.parts, output)


@dataclass(frozen=True, slots=True)
class QSlide(IntegerOperator):
    """A window that moves on: y is x without its first positions along `axis`, and rows after it.

    As many positions leave as rows come; both share one quantization with the output.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*CODES))
        rows: T = field(metadata=tensor(*CODES))

    axis: int

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        longer = concat_shape((inputs.x, inputs.rows), self.axis)
        new = longer[self.axis] - inputs.x[self.axis]
        need(new < inputs.x[self.axis], "rows fill the whole window")
        return inputs.x

    def compute(self, inputs: Inputs[Operand]) -> Array:
        both = np.concatenate([inputs.x.array, inputs.rows.array], axis=self.axis)
        count = both.shape[self.axis]
        return both.take(range(inputs.rows.array.shape[self.axis], count), self.axis)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes((inputs.x, inputs.rows), output)


@dataclass(frozen=True, slots=True)
class QPad(IntegerOperator):
    """(before, after) per axis; `value` is an int8 code (CONSTANT mode)."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*CODES))

    pads: tuple[tuple[int, int], ...]
    mode: PadMode
    value: int

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        y = padded_shape(inputs.x, self.pads)
        if self.mode is PadMode.REFLECT:
            fits = all(max(pair) < size for pair, size in zip(self.pads, inputs.x, strict=True))
            need(fits, "reflection wider than the tensor")
        return y

    def compute(self, inputs: Inputs[Operand]) -> Array:
        x = inputs.x.array
        match self.mode:
            case PadMode.CONSTANT:
                return np.pad(x, self.pads, constant_values=self.value)
            case PadMode.EDGE:
                return np.pad(x, self.pads, mode="edge")
            case PadMode.REFLECT:
                return np.pad(x, self.pads, mode="reflect")

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need(INT8_MIN <= self.value <= INT8_MAX, "the padding value is no int8 code")
        need_same_codes((inputs.x,), output)


@dataclass(frozen=True, slots=True)
class QReshape(IntegerOperator):
    """x in row-major order with a new shape; never copies (the planner makes it an alias)."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*MOVABLE))

    KEEPS_INTEGERS: ClassVar[bool] = True
    shape: tuple[int, ...]

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(math.prod(self.shape) == math.prod(inputs.x), "the number of elements changes")
        return self.shape

    def compute(self, inputs: Inputs[Operand]) -> Array:
        return inputs.x.array.reshape(self.shape)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes((inputs.x,), output)

    def shortened(self, axis: int, less: int) -> QReshape:
        return QReshape(shortened(self.shape, axis, less))


@dataclass(frozen=True, slots=True)
class QSlice(IntegerOperator):
    """y[i...] = x[start + i * step ...]; see `ops.Slice`."""

    KEEPS_INTEGERS: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*MOVABLE))

    starts: tuple[int, ...]
    steps: tuple[int, ...]
    sizes: tuple[int, ...]

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        ranges = (self.starts, self.steps, self.sizes)
        need(all(len(r) == len(inputs.x) for r in ranges), "one range per axis is needed")
        for size, start, step, count in zip(inputs.x, *ranges, strict=True):
            last = start + (count - 1) * step
            need(count > 0 and 0 <= start < size and 0 <= last < size, "range outside the tensor")
        return self.sizes

    def compute(self, inputs: Inputs[Operand]) -> Array:
        ranges = zip(self.starts, self.steps, self.sizes, strict=True)
        positions = [start + step * np.arange(size) for start, step, size in ranges]
        return np.asarray(inputs.x.array[np.ix_(*positions)])

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes((inputs.x,), output)

    def shortened(self, axis: int, less: int) -> QSlice:
        return replace(self, sizes=shortened(self.sizes, axis, less))


@dataclass(frozen=True, slots=True)
class QTranspose(IntegerOperator):
    """y = x.transpose(perm)."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*MOVABLE))

    KEEPS_INTEGERS: ClassVar[bool] = True
    perm: tuple[int, ...]

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(sorted(self.perm) == list(range(len(inputs.x))), "perm is not a permutation")
        return tuple(inputs.x[axis] for axis in self.perm)

    def compute(self, inputs: Inputs[Operand]) -> Array:
        return inputs.x.array.transpose(self.perm)

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes((inputs.x,), output)
