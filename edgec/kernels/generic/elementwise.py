"""Functions of two tensors with broadcasting, element by element."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from edgec.base.errors import InternalError
from edgec.ir import qops
from edgec.ir.graph import Node
from edgec.kernels.common.overlap import by_element
from edgec.kernels.common.spec import Loop, Plain
from edgec.kernels.family import Distances

P = TypeVar("P", qops.AddParams, qops.Add20)


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


def addition_of(node: Node, kind: type[P]) -> P:
    """The numbers of an addition of one kind.

    Raises:
        InternalError: it is of another kind.
    """
    params = node.attrs_as(qops.QAdd).params
    if not isinstance(params, kind):
        raise InternalError("an addition of another kind", where=node.name)
    return params


@dataclass(frozen=True, slots=True)
class FineParams:
    """The numbers of a function in fine steps: `ir.qops.FineNumbers`."""

    c_type: ClassVar[str] = "edgec_add20_params_t"
    a_multiplier: int
    b_multiplier: int
    y_multiplier: int
    a_zero_point: int
    b_zero_point: int
    y_zero_point: int
    act_min: int
    act_max: int


def fine_params(p: qops.FineNumbers) -> FineParams:
    """What a function in fine steps is called with; its shifts are in its specification."""
    return FineParams(
        a_multiplier=p.a_multiplier,
        b_multiplier=p.b_multiplier,
        y_multiplier=p.y_multiplier,
        a_zero_point=p.a_zero_point,
        b_zero_point=p.b_zero_point,
        y_zero_point=p.y_zero_point,
        act_min=p.act_min,
        act_max=p.act_max,
    )


def overlap(spec: Elementwise) -> Distances:
    """Elements are read in the order in which they are written, some of them again and again."""
    return tuple(max(by_element(spec.loops, operand), 0) for operand in (0, 1))
