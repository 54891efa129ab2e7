"""Reductions, global pooling among them."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

from edgec.ir.layout import Freedom, Perm
from edgec.ir.operator import Shape
from edgec.ir.ops.elementwise import OneInput
from edgec.ir.shapes import need, reduced_shape


class ReduceKind(enum.Enum):
    """What `Reduce` computes, by ONNX name."""

    MEAN = "ReduceMean"
    SUM = "ReduceSum"
    MAX = "ReduceMax"
    MIN = "ReduceMin"
    L1 = "ReduceL1"
    L2 = "ReduceL2"
    SUM_SQUARE = "ReduceSumSquare"

    @property
    def selects(self) -> bool:
        """Whether the result is one of the elements, so that codes stay what they are."""
        return self in (ReduceKind.MAX, ReduceKind.MIN)


@dataclass(frozen=True, slots=True)
class Reduce(OneInput):
    """Over `axes` (ascending, non-empty); keepdims keeps them with length 1."""

    kind: ReduceKind
    axes: tuple[int, ...]
    keepdims: bool = True

    @property
    def title(self) -> str:
        return self.kind.value

    @property
    def ends_in_clamp(self) -> bool:
        return not self.kind.selects

    @property
    def moves_codes(self) -> bool:
        return self.kind.selects

    @property
    def freedom(self) -> Freedom:
        return Freedom.ANY if self.keepdims else Freedom.FIXED

    def in_frame(self, frame: Perm) -> Reduce:
        return replace(self, axes=tuple(sorted(frame.index(axis) for axis in self.axes)))

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        need(bool(self.axes), "no axes")
        return reduced_shape(inputs.x, self.axes, self.keepdims)

    def mixes_positions(self, inputs: OneInput.Inputs[Shape], axis: int) -> bool:
        # The mean has a form that gets along with any length (`passes.mean_by_attention`).
        return axis in self.axes and self.kind is not ReduceKind.MEAN
