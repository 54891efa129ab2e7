"""Product of two int8 tensors in plain C."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.canonical import LATER
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool, end_fields, zero_point
from edgec.kernels.common.layer_end import form31_of, single31
from edgec.kernels.common.loops import broadcast_loops
from edgec.kernels.common.params import Params
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.generic import elementwise
from edgec.kernels.generic.elementwise import Elementwise
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Mul(Elementwise):
    """Product of two tensors.

    Attributes:
        left: left shift of a form that rounds twice; None: it rounds once.
    """

    family: ClassVar[str] = "mul"
    template: ClassVar[Path] = template_beside(__file__, "mul")
    left: int | None = field(default=None, metadata=LATER)

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Product of two tensors, {self.out_elements} elements"


@dataclass(frozen=True, slots=True)
class MulParams:
    """Products of two tensors."""

    c_type: ClassVar[str] = "edgec_mul_params_t"
    multiplier: int
    a_zero_point: int
    b_zero_point: int
    y_zero_point: int
    act_min: int
    act_max: int


def spec(graph: Graph, node: Node, _target: Target) -> Mul:
    """The specification for a QMul."""
    return Mul(broadcast_loops(graph, node), *single31(node))


def arguments(graph: Graph, node: Node, _spec: Mul, _pool: ConstantPool) -> tuple[Params, ...]:
    """Multiplier, zero points and bounds."""
    zero_points = [zero_point(graph, name) for name in node.inputs]
    return (
        MulParams(node.attrs_as(qops.QMul).multiplier, *zero_points, **end_fields(form31_of(node))),
    )


FAMILY = KernelFamily(
    spec_type=Mul,
    operators=(qops.QMul,),
    spec=spec,
    overlap=elementwise.overlap,
    arguments=arguments,
)
