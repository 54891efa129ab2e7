"""Rows and columns of a tensor in a larger one, for chains of layers in turns (`ir.rows`).

Kernels and memory see the rows of a turn by views, and the columns of a patch by copies; codes pass
unchanged.  They have no oracle: that of the graph before it was cut is the reference of all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_same_codes
from edgec.ir.qops.operands import MOVABLE, value
from edgec.ir.rows import COLUMNS, EACH_ROW, ROWS, RowWindow
from edgec.ir.shapes import concat_shape, need


@dataclass(frozen=True, slots=True)
class RowView(IntegerOperator):
    """Rows in a larger tensor, from row ``start + step * i`` on in the i-th time.

    Attributes:
        height: rows of the output.
        start, step: the place.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*MOVABLE))

    height: int
    start: int = 0
    step: int = 0

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(len(inputs.x) == 4, "rows of a tensor that is no image")
        return (*inputs.x[:ROWS], self.height, *inputs.x[ROWS + 1 :])

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes((inputs.x,), output)


@dataclass(frozen=True, slots=True)
class QRowsFrom(RowView):
    """Some rows of x."""


@dataclass(frozen=True, slots=True)
class QRowsInto(RowView):
    """A tensor that x is some rows of."""


@dataclass(frozen=True, slots=True)
class _Columns(IntegerOperator):
    """Columns of an image, copied row by row.

    Attributes:
        width: columns of the output.
        source, target: the first column that is copied, in x and in the output.
        count: how many are.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        x: T = field(metadata=value(*MOVABLE))

    width: int
    source: int
    target: int
    count: int

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(len(inputs.x) == 4, "columns of a tensor that is no image")
        for first, width in ((self.source, inputs.x[COLUMNS]), (self.target, self.width)):
            need(first >= 0 and 0 < self.count <= width - first, "columns outside the image")
        return (*inputs.x[:COLUMNS], self.width, inputs.x[-1])

    def row_window(self, inputs: Inputs[Shape]) -> RowWindow:
        return EACH_ROW

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes((inputs.x,), output)


@dataclass(frozen=True, slots=True)
class QColumnsFrom(_Columns):
    """Some columns of x; every byte of the others is `byte`."""

    byte: int


@dataclass(frozen=True, slots=True)
class QColumnsInto(_Columns):
    """A tensor that x is some columns of; the others are what `QColumnsJoined` has of them."""


@dataclass(frozen=True, slots=True)
class QColumnsJoined(IntegerOperator):
    """The tensor that all parts are columns of: it and they are the same bytes."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        parts: tuple[T, ...] = field(default=(), metadata=value(*MOVABLE))

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(len(set(inputs.parts)) == 1, "columns of tensors that differ")
        return inputs.parts[0]

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes(inputs.parts, output)


@dataclass(frozen=True, slots=True)
class QChannelsJoined(IntegerOperator):
    """The tensor [1, ..., C] that all parts are channels of, one after another: the same bytes."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        parts: tuple[T, ...] = field(default=(), metadata=value(*MOVABLE))

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        y = concat_shape(inputs.parts, len(inputs.parts[0]) - 1)
        need(math.prod(y) == y[-1], "channels of an image")
        return y

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        need_same_codes(inputs.parts, output)


COLUMN_COPIES = (QColumnsFrom, QColumnsInto)
"""Operators that only copy columns of a strip."""
