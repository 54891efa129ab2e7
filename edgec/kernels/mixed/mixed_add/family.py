"""Sum of two tensors of int8 or int16 in plain C."""

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
class MixedAdd(MixedElementwise):
    """Sum or difference of two tensors.

    Attributes:
        a_multiplier, b_multiplier: factors of the tensors.
    """

    family: ClassVar[str] = "mixed_add"
    template: ClassVar[Path] = template_beside(__file__, "mixed_add")
    a_multiplier: int
    b_multiplier: int

    def describe(self) -> str:
        """What the function computes, in words."""
        kinds = f"{self.of.a.value} and {self.of.b.value}"
        return f"Sum of tensors of {kinds}, {self.of.elements} elements"


def spec(graph: Graph, node: Node, _target: Target) -> MixedAdd:
    """The specification for a QMixedAdd."""
    attrs = node.attrs_as(qops.QMixedAdd)
    end = attrs.shift, attrs.zero_point, attrs.low, attrs.high
    return MixedAdd(Operands.of(graph, node), *end, attrs.a_multiplier, attrs.b_multiplier)


FAMILY = KernelFamily(
    spec_type=MixedAdd,
    operators=(qops.QMixedAdd,),
    spec=spec,
    overlap=overlap,
)
