"""Rows of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.ir.graph import Tensor, Value
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.real import RealOperator, check_int32
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class Embedding(RealOperator):
    """The rows of a table that ids name; y [..., C]."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """ids int32 [...], each at least 0 and less than V; table const [V, C]."""

        ids: T
        table: T

    CONSTANTS: ClassVar[frozenset[str]] = frozenset({"table"})

    @property
    def title(self) -> str:
        return "Gather"

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        need(len(inputs.table) == 2, "the table must be [V, C]")
        return (*inputs.ids, inputs.table[1])

    def verify(self, inputs: Inputs[Tensor], output: Value) -> None:
        check_int32(inputs.ids)
