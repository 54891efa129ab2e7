"""Choice between two tensors."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.ir.operator import Operands, Shape, T
from edgec.ir.real import RealOperator
from edgec.ir.shapes import broadcast


@dataclass(frozen=True, slots=True)
class Where(RealOperator):
    """``condition ? a : b``, numpy broadcasting."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """condition (0: false) and what it chooses from; any may be a constant."""

        condition: T
        a: T
        b: T

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        return broadcast(inputs.condition, broadcast(inputs.a, inputs.b))
