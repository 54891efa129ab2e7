"""Softmax of int16 rows in plain C."""

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
from edgec.kernels.wide.elementwise import factor_arguments
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class WideSoftmax(Plain):
    """Softmax over the last axis of [rows, depth], by interpolated tables.

    Attributes:
        rows, depth: the sizes.
        factor: what makes steps of the table of exponentials, as C arguments.
    """

    family: ClassVar[str] = "wide_softmax"
    template: ClassVar[Path] = template_beside(__file__, "wide_softmax")
    rows: int
    depth: int
    factor: str

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Softmax of int16 over the last axis of [{self.rows}, {self.depth}]"


def spec(graph: Graph, node: Node, _target: Target) -> WideSoftmax:
    """The specification for a QWideSoftmax."""
    *rows, depth = graph.shape(node.output)
    factor = node.attrs_as(qops.QWideSoftmax).factor
    return WideSoftmax(math.prod(rows), depth, factor_arguments(factor))


def overlap(_spec: WideSoftmax) -> Distances:
    """A row is read before it is written, and its elements again in that order."""
    return (IN_PLACE, None, None)


FAMILY = KernelFamily(
    spec_type=WideSoftmax,
    operators=(qops.QWideSoftmax,),
    spec=spec,
    overlap=overlap,
    constant_stem="table",
)
