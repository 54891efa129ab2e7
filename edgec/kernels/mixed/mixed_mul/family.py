"""Product of two tensors of int8 or int16 in plain C."""

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
class MixedMul(MixedElementwise):
    """Product of two tensors.

    Attributes:
        multiplier: factor of a product.
    """

    family: ClassVar[str] = "mixed_mul"
    template: ClassVar[Path] = template_beside(__file__, "mixed_mul")
    multiplier: int

    def describe(self) -> str:
        """What the function computes, in words."""
        kinds = f"{self.of.a.value} and {self.of.b.value}"
        return f"Product of tensors of {kinds}, {self.of.elements} elements"


def spec(graph: Graph, node: Node, _target: Target) -> MixedMul:
    """The specification for a QMixedMul."""
    attrs = node.attrs_as(qops.QMixedMul)
    form = attrs.output
    end = form.shift, form.zero_point, form.low, form.high
    return MixedMul(Operands.of(graph, node), *end, attrs.multiplier)


FAMILY = KernelFamily(
    spec_type=MixedMul,
    operators=(qops.QMixedMul,),
    spec=spec,
    overlap=overlap,
)
