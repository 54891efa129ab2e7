"""Sum or difference of two int8 tensors in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.common.lengths import Looped
from edgec.kernels.common.loops import broadcast_loops
from edgec.kernels.common.params import Params
from edgec.kernels.common.weighted import sum_params
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.generic import elementwise
from edgec.kernels.generic.elementwise import Elementwise, addition_of
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Add(Elementwise):
    """Sum or difference of two tensors.

    Attributes:
        variable: the turns of the outermost loop are an argument.
    """

    family: ClassVar[str] = "add"
    template: ClassVar[Path] = template_beside(__file__, "add")
    variable: bool = False

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Sum of two tensors, {self.out_elements} elements"


def spec(graph: Graph, node: Node, _target: Target) -> Add:
    """The specification for a QAdd."""
    return Add(broadcast_loops(graph, node), addition_of(node, qops.AddParams).shift)


def arguments(_graph: Graph, node: Node, _spec: Add, _pool: ConstantPool) -> tuple[Params, ...]:
    """The numbers of the addition."""
    return (sum_params(addition_of(node, qops.AddParams)),)


FAMILY = KernelFamily(
    spec_type=Add,
    operators=(qops.QAdd,),
    spec=spec,
    overlap=elementwise.overlap,
    arguments=arguments,
    lengths=Looped("loops"),
)
