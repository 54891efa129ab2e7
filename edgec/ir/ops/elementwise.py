"""What operators with one operand share, and those that work on each element alone."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.ir.layout import Freedom
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.real import RealOperator


@dataclass(frozen=True, slots=True)
class OneInput(RealOperator):
    """An operator with one operand."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """The only operand."""

        x: T

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return inputs.x


@dataclass(frozen=True, slots=True)
class Elementwise(OneInput):
    """A function of each element."""

    @property
    def freedom(self) -> Freedom:
        return Freedom.ANY
