"""Functions of two tensors with broadcasting, element by element."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edgec.kernels.common.overlap import by_element
from edgec.kernels.common.spec import Loop, Plain
from edgec.kernels.family import Distances


@dataclass(frozen=True, slots=True)
class Elementwise(Plain):
    """Base of functions of two tensors with broadcasting; y is written in raster order.

    Attributes:
        loops: strides of a and b; y is contiguous.
        shift: right shift of the rounding at the end.
    """

    loops: tuple[Loop, ...]
    shift: int

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return math.prod(loop.size for loop in self.loops)


def overlap(spec: Elementwise) -> Distances:
    """Elements are read in the order in which they are written, some of them again and again."""
    return tuple(max(by_element(spec.loops, operand), 0) for operand in (0, 1))
