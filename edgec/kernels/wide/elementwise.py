"""Functions of two int16 tensors with broadcasting, element by element."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.kernels.common.overlap import by_element
from edgec.kernels.common.spec import Loop, Plain
from edgec.kernels.family import Distances


@dataclass(frozen=True, slots=True)
class WideElementwise(Plain):
    """Base of functions of two int16 tensors with broadcasting; y is written in raster order.

    Attributes:
        loops: strides of a and b; y is contiguous.
        act_min, act_max: bounds of y.
    """

    loops: tuple[Loop, ...]
    act_min: int
    act_max: int

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return math.prod(loop.size for loop in self.loops)


def overlap(spec: WideElementwise) -> Distances:
    """Elements are read in the order in which they are written, some of them again and again."""
    size = DType.INT16.size_bytes
    return tuple(size * max(by_element(spec.loops, operand), 0) for operand in (0, 1))


def factor_arguments(factor: qops.Factor) -> str:
    """The last two arguments of `edgec_scaled_twice`: multiplier and shift to the left."""
    return f"{factor.multiplier}, {factor.shift}"
