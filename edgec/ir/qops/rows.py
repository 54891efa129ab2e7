"""Rows of a tensor in a larger one: views of a chain of layers that runs in turns (`ir.rows`).

Kernels and memory see the rows of a turn by them; codes pass unchanged.  They have no oracle: that
of the graph before it was cut into rows is the reference of both.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.qops.base import IntegerOperator, need_same_codes
from edgec.ir.qops.operands import MOVABLE, value
from edgec.ir.rows import ROWS
from edgec.ir.shapes import need


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
