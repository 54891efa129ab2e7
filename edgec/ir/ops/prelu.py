"""Leaky ReLU whose slopes are trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.ir.layout import Freedom
from edgec.ir.operator import Operands, Shape, T
from edgec.ir.real import RealOperator
from edgec.ir.shapes import check_per_channel


@dataclass(frozen=True, slots=True)
class PRelu(RealOperator):
    """x [..., C]: x >= 0 ? x : slope * x."""

    @dataclass(frozen=True, slots=True)
    class Inputs(Operands[T]):
        """Input x, slope const [C] (or [1])."""

        x: T
        slope: T

    CONSTANTS: ClassVar[frozenset[str]] = frozenset({"slope"})
    ENDS_IN_CLAMP: ClassVar[bool] = True

    @property
    def freedom(self) -> Freedom:
        return Freedom.LAST

    def infer_shape(self, inputs: Inputs[Shape]) -> Shape:
        check_per_channel(inputs.x, inputs.slope)
        return inputs.x
