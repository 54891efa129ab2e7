"""Limits of values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.ops.elementwise import Elementwise


@dataclass(frozen=True, slots=True)
class Clip(Elementwise):
    """min(max(x, low), high); Relu is Clip(0, inf)."""

    low: float = float("-inf")
    high: float = float("inf")

    def evaluate(self, inputs: Elementwise.Inputs[Array]) -> Array:
        return np.clip(inputs.x, self.low, self.high)
