"""A function of one int8 element by table, four elements a turn, from the last to the first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.overlap import IN_PLACE
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

STEP = 4


@dataclass(frozen=True, slots=True)
class BackwardLut(Plain):
    """x, y int8 [count], table int8 [256]; count is a multiple of four."""

    family: ClassVar[str] = "backward_lut"
    template: ClassVar[Path] = template_beside(__file__, "backward_lut")
    count: int

    @property
    def turns(self) -> int:
        return self.count // STEP

    def describe(self) -> str:
        return f"Table look-up backwards, {self.count} elements"


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    return math.prod(graph.shape(node.output)) % STEP == 0 and not target.has_neon


def spec(graph: Graph, node: Node, target: Target) -> BackwardLut:
    return BackwardLut(math.prod(graph.shape(node.output)))


def overlap(spec: BackwardLut) -> Distances:
    return (IN_PLACE, None)


FAMILY = KernelFamily(
    spec_type=BackwardLut,
    operators=(qops.QLut,),
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    constant_stem="table",
)
