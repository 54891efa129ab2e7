"""Where the largest element is, or the smallest."""

from __future__ import annotations

from dataclasses import dataclass, replace

from edgec.ir.layout import Freedom, Perm
from edgec.ir.operator import Shape
from edgec.ir.ops.elementwise import OneInput
from edgec.ir.shapes import reduced_shape


@dataclass(frozen=True, slots=True)
class ArgMax(OneInput):
    """Index of the largest element along `axis`; y int64 in ONNX, int32 here.

    Ties: the first, or the last if select_last_index.  With `smallest`, that of the smallest
    element (ONNX's ArgMin).
    """

    axis: int
    keepdims: bool = True
    select_last_index: bool = False
    smallest: bool = False

    @property
    def gives_integers(self) -> bool:
        return True

    @property
    def freedom(self) -> Freedom:
        return Freedom.ANY if self.keepdims else Freedom.FIXED

    def in_frame(self, frame: Perm) -> ArgMax:
        return replace(self, axis=frame.index(self.axis))

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        return reduced_shape(inputs.x, (self.axis,), self.keepdims)
