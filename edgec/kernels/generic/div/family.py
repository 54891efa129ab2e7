"""Quotient of two int8 tensors in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import zero_point
from edgec.kernels.common.lengths import Looped
from edgec.kernels.common.loops import broadcast_loops
from edgec.kernels.common.overlap import by_bytes
from edgec.kernels.common.spec import Loop, Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Div(Plain):
    """Quotient of two tensors with broadcasting; y is written in raster order.

    Attributes:
        loops: strides of a and b; y is contiguous.
        a_zero_point, b_zero_point: zero points of the operands.
        multiplier, shift, y_zero_point, low, high: see `qops.QDiv`.
        variable: the turns of the outermost loop are an argument.
    """

    family: ClassVar[str] = "div"
    template: ClassVar[Path] = template_beside(__file__, "div")
    loops: tuple[Loop, ...]
    a_zero_point: int
    b_zero_point: int
    multiplier: int
    shift: int
    y_zero_point: int
    low: int
    high: int
    variable: bool = False

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Quotient of two tensors, {math.prod(loop.size for loop in self.loops)} elements"


def spec(graph: Graph, node: Node, _target: Target) -> Div:
    """The specification for a QDiv."""
    attrs = node.attrs_as(qops.QDiv)
    real = attrs.Inputs.of(node.inputs)
    return Div(
        loops=broadcast_loops(graph, node),
        a_zero_point=zero_point(graph, real.a),
        b_zero_point=zero_point(graph, real.b),
        multiplier=attrs.multiplier,
        shift=attrs.shift,
        y_zero_point=attrs.zero_point,
        low=attrs.low,
        high=attrs.high,
    )


def overlap(spec: Div) -> Distances:
    """Elements are read in the order in which they are written, some of them again and again."""
    return tuple(by_bytes(spec.loops, operand, 1, 1) for operand in (0, 1))


FAMILY = KernelFamily(
    spec_type=Div,
    operators=(qops.QDiv,),
    spec=spec,
    overlap=overlap,
    lengths=Looped("loops"),
)
