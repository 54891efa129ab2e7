"""Comparison of integers with a number, in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.overlap import IN_PLACE
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class IsEqual(Plain):
    """Which of `count` integers are `value`: int32, 1 or 0.

    Attributes:
        variable: the elements of a run are an argument.
    """

    family: ClassVar[str] = "is_equal"
    template: ClassVar[Path] = template_beside(__file__, "is_equal")
    count: int
    value: int
    variable: bool = False

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Comparison of {self.count} integers with {self.value}"


def spec(graph: Graph, node: Node, _target: Target) -> IsEqual:
    """The specification for a QIsEqual."""
    return IsEqual(math.prod(graph.shape(node.output)), node.attrs_as(qops.QIsEqual).value)


def overlap(_spec: IsEqual) -> Distances:
    """Element by element."""
    return (IN_PLACE,)


FAMILY = KernelFamily(
    spec_type=IsEqual,
    operators=(qops.QIsEqual,),
    spec=spec,
    overlap=overlap,
    lengths=Counted("count"),
)
