"""Product of two int16 tensors in plain C."""

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
class WideMul(WideElementwise):
    """Product of two tensors.

    Attributes:
        factor: factor of the product, as C arguments.
    """

    family: ClassVar[str] = "wide_mul"
    template: ClassVar[Path] = template_beside(__file__, "wide_mul")
    factor: str

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Product of two int16 tensors, {self.out_elements} elements"


def spec(graph: Graph, node: Node, _target: Target) -> WideMul:
    """The specification for a QWideMul."""
    attrs = node.attrs_as(qops.QWideMul)
    loops = broadcast_loops(graph, node)
    return WideMul(loops, attrs.act_min, attrs.act_max, factor_arguments(attrs.factor))


FAMILY = KernelFamily(
    spec_type=WideMul,
    operators=(qops.QWideMul,),
    spec=spec,
    overlap=overlap,
)
