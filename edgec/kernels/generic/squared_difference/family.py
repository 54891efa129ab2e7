"""Squares of the differences of two int8 tensors in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.common.loops import broadcast_loops
from edgec.kernels.common.params import Params
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.generic import elementwise
from edgec.kernels.generic.elementwise import Elementwise, fine_params
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class SquaredDifference(Elementwise):
    """Squares of differences; `shift` is that of the output.

    Attributes:
        a_right, b_right: right shifts of the operands.
    """

    family: ClassVar[str] = "squared_difference"
    template: ClassVar[Path] = template_beside(__file__, "squared_difference")
    a_right: int
    b_right: int

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Squared difference of two tensors, {self.out_elements} elements"


def spec(graph: Graph, node: Node, _target: Target) -> SquaredDifference:
    """The specification for a QSquaredDifference."""
    p = node.attrs_as(qops.QSquaredDifference).params
    return SquaredDifference(broadcast_loops(graph, node), p.y_right, p.a_right, p.b_right)


def arguments(
    _graph: Graph, node: Node, _spec: SquaredDifference, _pool: ConstantPool
) -> tuple[Params, ...]:
    """Multipliers, zero points and bounds."""
    return (fine_params(node.attrs_as(qops.QSquaredDifference).params),)


FAMILY = KernelFamily(
    spec_type=SquaredDifference,
    operators=(qops.QSquaredDifference,),
    spec=spec,
    overlap=elementwise.overlap,
    arguments=arguments,
)
