"""Choice between two tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.ir.layout import Freedom
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.real import RealOperator
from edgec.ir.shapes import broadcast


@dataclass(frozen=True, slots=True)
class Where(RealOperator):
    """``condition ? a : b``, numpy broadcasting; a and b are real numbers, or both int32.

    Constants are float32 in either case.
    """

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """condition (0: false) and what it chooses from; any may be a constant."""

        condition: T
        a: T
        b: T

    CONSTANTS_FOLLOW: ClassVar[bool] = True
    KEEPS_INTEGERS: ClassVar[bool] = True
    MOVES_CODES: ClassVar[bool] = True

    @property
    def freedom(self) -> Freedom:
        return Freedom.ANY

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.condition, broadcast(inputs.a, inputs.b))
