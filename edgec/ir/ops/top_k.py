"""The largest or smallest elements of a row, in order."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.ir.layout import Freedom
from edgec.ir.operator import Shape
from edgec.ir.ops.elementwise import OneInput
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class TopK(OneInput):
    """The `k` largest (or smallest) elements along the last axis, the most extreme first.

    With `indices` where they are instead, int32.  Of equal elements the first comes first.
    """

    k: int
    largest: bool = True
    indices: bool = False

    @property
    def gives_integers(self) -> bool:
        return self.indices

    @property
    def moves_codes(self) -> bool:
        return not self.indices

    @property
    def freedom(self) -> Freedom:
        return Freedom.LAST

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        need(bool(inputs.x) and 0 < self.k <= inputs.x[-1], "k does not fit the last axis")
        return (*inputs.x[:-1], self.k)
