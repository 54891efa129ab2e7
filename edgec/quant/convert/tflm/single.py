"""The end of operators with one factor, rounded twice."""

from __future__ import annotations

from edgec.ir import qops
from edgec.quant.convert.context import Conversion

_ROOM = 2.0**30
"""Kernels double what they multiply, which must stay within int32."""


def single_twice(c: Conversion, multiplier: int, shift: int, bound: float) -> qops.Twice31 | None:
    """The requantization of a node with one factor; None where its sums would leave 32 bits.

    Args:
        c: the node.
        multiplier, shift: the factor as `edgec.base.twice.quantized_factor` gives it.
        bound: largest magnitude of an accumulator.
    """
    if multiplier < 0 or bound * 2.0 ** max(shift, 0) >= _ROOM:
        return None
    return qops.Twice31((shift,), c.y.tensor_zero_point, *c.act_bounds)
