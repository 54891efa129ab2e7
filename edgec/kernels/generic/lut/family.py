"""A function of one int8 element by table, in plain C."""

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
class Lut(Plain):
    """A function of one element, by table: x, y int8 [count], table int8 [256].

    Attributes:
        variable: the elements of a run are an argument.
    """

    family: ClassVar[str] = "lut"
    template: ClassVar[Path] = template_beside(__file__, "lut")
    count: int
    variable: bool = False

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Table look-up, {self.count} elements"


def spec(graph: Graph, node: Node, _target: Target) -> Lut:
    """The specification for a QLut."""
    return Lut(math.prod(graph.shape(node.output)))


def overlap(_spec: Lut) -> Distances:
    """Element by element; the table is a constant."""
    return (IN_PLACE, None)


FAMILY = KernelFamily(
    spec_type=Lut,
    operators=(qops.QLut,),
    spec=spec,
    overlap=overlap,
    lengths=Counted("count"),
    constant_stem="table",
)
