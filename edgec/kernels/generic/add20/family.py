"""Sum or difference of two int8 tensors as TensorFlow Lite Micro computes it, in plain C."""

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
from edgec.kernels.generic.elementwise import Elementwise, addition_of, fine_params
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Add20(Elementwise):
    """Sum or difference of two tensors in steps of 2^-20; `shift` is that of the output.

    Attributes:
        a_right, b_right: right shifts of the operands.
        subtracts: the output is a - b, not a + b.
    """

    family: ClassVar[str] = "add20"
    template: ClassVar[Path] = template_beside(__file__, "add20")
    a_right: int
    b_right: int
    subtracts: bool

    def describe(self) -> str:
        """What the function computes, in words."""
        kind = "Difference" if self.subtracts else "Sum"
        return f"{kind} of two tensors in fine steps, {self.out_elements} elements"


def accepts(_graph: Graph, node: Node, _target: Target) -> bool:
    """Additions in steps of 2^-20."""
    return isinstance(node.attrs_as(qops.QAdd).params, qops.Add20)


def spec(graph: Graph, node: Node, _target: Target) -> Add20:
    """The specification for a QAdd."""
    p = addition_of(node, qops.Add20)
    return Add20(broadcast_loops(graph, node), p.y_right, p.a_right, p.b_right, p.subtracts)


def arguments(_graph: Graph, node: Node, _spec: Add20, _pool: ConstantPool) -> tuple[Params, ...]:
    """The numbers of the addition."""
    return (fine_params(addition_of(node, qops.Add20)),)


FAMILY = KernelFamily(
    spec_type=Add20,
    operators=(qops.QAdd,),
    spec=spec,
    overlap=elementwise.overlap,
    accepts=accepts,
    arguments=arguments,
)
