"""Sum or difference of two int16 tensors in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.loops import broadcast_loops
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.wide.elementwise import WideElementwise, factor_arguments, overlap
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class WideAdd(WideElementwise):
    """Sum or difference of two tensors in fine steps.

    Attributes:
        a, b, y: factors of the operands and of the sum, as C arguments.
        subtracts: a - b.
    """

    family: ClassVar[str] = "wide_add"
    template: ClassVar[Path] = template_beside(__file__, "wide_add")
    a: str
    b: str
    y: str
    subtracts: bool

    def describe(self) -> str:
        """What the function computes, in words."""
        kind = "Difference" if self.subtracts else "Sum"
        return f"{kind} of two int16 tensors, {self.out_elements} elements"


def spec(graph: Graph, node: Node, _target: Target) -> WideAdd:
    """The specification for a QWideAdd."""
    attrs = node.attrs_as(qops.QWideAdd)
    loops = broadcast_loops(graph, node)
    a, b, y = (factor_arguments(factor) for factor in (attrs.a, attrs.b, attrs.y))
    return WideAdd(loops, attrs.act_min, attrs.act_max, a, b, y, attrs.subtracts)


FAMILY = KernelFamily(
    spec_type=WideAdd,
    operators=(qops.QWideAdd,),
    spec=spec,
    overlap=overlap,
)
