"""Softmax in a transformer's arithmetic in plain C."""

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
class SoftmaxOctaves(Plain):
    """Softmax over the last axis: x int8 [rows, depth].

    Attributes:
        rows, depth: shape.
        distance_multiplier, distance_limit, exp_bits: numbers of `ir.qops.QSoftmaxOctaves`.
        variable: the rows of a run are an argument.
    """

    family: ClassVar[str] = "softmax_octaves"
    template: ClassVar[Path] = template_beside(__file__, "softmax_octaves")
    rows: int
    depth: int
    distance_multiplier: int
    distance_limit: int
    exp_bits: int
    variable: bool = False

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Softmax of {self.rows} rows of {self.depth}"


def spec(graph: Graph, node: Node, _target: Target) -> SoftmaxOctaves:
    """The specification for a QSoftmaxOctaves."""
    attrs = node.attrs_as(qops.QSoftmaxOctaves)
    *rows, depth = graph.shape(node.output)
    numbers = attrs.distance_multiplier, attrs.distance_limit, attrs.exp_bits
    return SoftmaxOctaves(math.prod(rows), depth, *numbers)


def overlap(_spec: SoftmaxOctaves) -> Distances:
    """A row is read before it is written, and its elements again in that order."""
    return (IN_PLACE,)


FAMILY = KernelFamily(
    spec_type=SoftmaxOctaves,
    operators=(qops.QSoftmaxOctaves,),
    spec=spec,
    overlap=overlap,
    lengths=Counted("rows"),
)
