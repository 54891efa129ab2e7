"""Another size of an image."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import ClassVar

from edgec.ir.operator import Shape
from edgec.ir.ops.elementwise import OneInput, OnImages
from edgec.ir.shapes import need


class ResizeMode(enum.Enum):
    """ONNX Resize modes that are supported."""

    NEAREST = "nearest"
    LINEAR = "linear"


@dataclass(frozen=True, slots=True)
class Resize(OnImages):
    """x [N, H, W, C] to [N, OH, OW, C], separable; source positions resolved at import.

    Output row i is ``(1 - row_weights[i]) * x[row_low[i]] + row_weights[i] * x[row_high[i]]`` and
    likewise for columns.  NEAREST has all weights 0 and high == low.
    """

    MOVES_CODES: ClassVar[bool] = True

    mode: ResizeMode
    row_low: tuple[int, ...]
    row_high: tuple[int, ...]
    row_weights: tuple[float, ...]
    col_low: tuple[int, ...]
    col_high: tuple[int, ...]
    col_weights: tuple[float, ...]

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        need(len(inputs.x) == 4, "x must have four dimensions")
        n, h, w, c = inputs.x
        rows, cols = self.row_low + self.row_high, self.col_low + self.col_high
        need(bool(rows) and bool(cols), "the output is empty")
        need(min(rows) >= 0 and max(rows) < h, "row out of range")
        need(min(cols) >= 0 and max(cols) < w, "column out of range")
        return (n, len(self.row_low), len(self.col_low), c)

    def mixes_positions(self, inputs: OneInput.Inputs[Shape], axis: int) -> bool:
        return True
