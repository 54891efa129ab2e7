"""Two operands brought to one finer scale, and a result brought back, each rounded twice."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT32_MAX
from edgec.base.twice import scaled_twice
from edgec.ir.qops.arithmetic import int8_clamped
from edgec.ir.qops.base import need_clamp, need_shift
from edgec.ir.shapes import need


@dataclass(frozen=True, slots=True)
class FineNumbers:
    """The numbers of a function f of two tensors with scales of their own.

    ``y = clamp(zy + twice(f(A, B), y))`` with ``A = twice((a - a_zero_point) << bits, a)``, B
    alike; ``twice(x, k) = scaled_twice(x, k_multiplier, -k_right)`` (`edgec.base.twice`).

    Bounds: 0 <= multiplier < 2^31; 0 <= right <= 31.

    Attributes:
        a_zero_point, b_zero_point, y_zero_point: codes that stand for 0 in a, b and y.
        a_multiplier, a_right: the factor of the steps of a; b and y alike.
        act_min, act_max: bounds of y, int8 codes.
    """

    a_zero_point: int
    b_zero_point: int
    a_multiplier: int
    a_right: int
    b_multiplier: int
    b_right: int
    y_multiplier: int
    y_right: int
    y_zero_point: int
    act_min: int = INT8_MIN
    act_max: int = INT8_MAX

    def fine_steps(self, a: Array, b: Array, bits: int) -> tuple[Array, Array]:
        """A and B of two int8 arrays; int64, in their shapes."""
        operands = (
            (a, self.a_zero_point, self.a_multiplier, self.a_right),
            (b, self.b_zero_point, self.b_multiplier, self.b_right),
        )
        first, second = (
            scaled_twice((codes.astype(np.int64) - zero_point) << bits, multiplier, -right)
            for codes, zero_point, multiplier, right in operands
        )
        return first, second

    def codes(self, result: Array) -> Array:
        """The codes of results f(A, B), int64 of any shape; int8."""
        scaled = scaled_twice(result, self.y_multiplier, -self.y_right)
        return int8_clamped(self.y_zero_point + scaled, self.act_min, self.act_max)

    def verify(self) -> None:
        """Check the numbers.

        Raises:
            ValueError: one is out of range.
        """
        need_clamp(self.act_min, self.act_max)
        for right in (self.a_right, self.b_right, self.y_right):
            need_shift(right, 0, 31)
        for multiplier in (self.a_multiplier, self.b_multiplier, self.y_multiplier):
            need(0 <= multiplier <= INT32_MAX, f"bad multiplier {multiplier}")
