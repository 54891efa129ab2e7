"""The kernel of `QTrend`, element by element."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir.graph import Graph, Node
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target
from outside_cell.operator import QTrend


@dataclass(frozen=True, slots=True)
class Trend(Plain):
    """x, average, distance, new: int8 [count]."""

    family: ClassVar[str] = "trend"
    template: ClassVar[Path] = template_beside(__file__, "trend")
    count: int
    zero_point: int

    def describe(self) -> str:
        return f"Moving average of {self.count} elements, and the distance from it"


def spec(graph: Graph, node: Node, target: Target) -> Trend:
    return Trend(math.prod(graph.shape(node.first)), node.attrs_as(QTrend).zero_point)


def overlap(spec: Trend) -> Distances:
    return (None, None)


FAMILY = KernelFamily(spec_type=Trend, operators=(QTrend,), spec=spec, overlap=overlap)
