"""Quotient of two tensors of int8 or int16 in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.family import KernelFamily, template_beside
from edgec.kernels.mixed.elementwise import MixedElementwise, Operands, overlap
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class MixedDiv(MixedElementwise):
    """Quotient of two tensors; there is no right shift at the end.

    Attributes:
        multiplier: factor of a quotient.
        left, right: shifts of the dividend and of the divisor.
    """

    family: ClassVar[str] = "mixed_div"
    template: ClassVar[Path] = template_beside(__file__, "mixed_div")
    multiplier: int
    left: int
    right: int

    def describe(self) -> str:
        """What the function computes, in words."""
        kinds = f"{self.of.a.value} and {self.of.b.value}"
        return f"Quotient of tensors of {kinds}, {self.of.elements} elements"


def spec(graph: Graph, node: Node, _target: Target) -> MixedDiv:
    """The specification for a QMixedDiv."""
    attrs = node.attrs_as(qops.QMixedDiv)
    end = 0, attrs.zero_point, attrs.low, attrs.high
    return MixedDiv(Operands.of(graph, node), *end, attrs.multiplier, attrs.left, attrs.right)


FAMILY = KernelFamily(
    spec_type=MixedDiv,
    operators=(qops.QMixedDiv,),
    spec=spec,
    overlap=overlap,
)
