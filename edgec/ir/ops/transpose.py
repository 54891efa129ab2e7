"""Another order of axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.layout import picked
from edgec.ir.operator import Shape
from edgec.ir.ops.elementwise import OneInput
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class Transpose(OneInput):
    """y = x.transpose(perm)."""

    KEEPS_INTEGERS: ClassVar[bool] = True
    MOVES_CODES: ClassVar[bool] = True

    perm: tuple[int, ...]

    def infer_shape(self, inputs: OneInput.Inputs[Shape]) -> Shape:
        need(sorted(self.perm) == list(range(len(inputs.x))), "perm is not a permutation")
        return picked(inputs.x, self.perm)

    def evaluate(self, inputs: OneInput.Inputs[Array]) -> Array:
        return np.transpose(inputs.x, self.perm)
