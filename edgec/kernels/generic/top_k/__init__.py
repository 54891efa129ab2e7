"""The largest or smallest codes of a row in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class TopK(Plain):
    """x int8 [rows, depth], y [rows, k]: int8 codes, or int32 indices.

    Attributes:
        rows, depth, k: shapes.
        largest: the largest codes, or else the smallest.
        indices: where they are, instead of the codes.
    """

    family: ClassVar[str] = "top_k"
    template: ClassVar[Path] = template_beside(__file__, "top_k")
    rows: int
    depth: int
    k: int
    largest: bool
    indices: bool

    @property
    def y_type(self) -> str:
        """C type of an element of y."""
        return "edgec_s32_t" if self.indices else "int8_t"

    @property
    def beats(self) -> str:
        """How a code that comes earlier compares with one that comes later."""
        return ">" if self.largest else "<"

    def describe(self) -> str:
        """What the function computes, in words."""
        which = "largest" if self.largest else "smallest"
        what = "Indices of the" if self.indices else "The"
        return f"{what} {self.k} {which} of {self.depth} codes, {self.rows} times"


def spec(graph: Graph, node: Node, _target: Target) -> TopK:
    """The specification for a QTopK."""
    shape, attrs = graph.shape(node.input), node.attrs_as(qops.QTopK)
    return TopK(math.prod(shape[:-1]), shape[-1], attrs.k, attrs.largest, attrs.indices)


def overlap(_spec: TopK) -> Distances:
    """A row is read again for each element of y."""
    return (None,)


FAMILY = KernelFamily(
    spec_type=TopK,
    operators=(qops.QTopK,),
    spec=spec,
    overlap=overlap,
)
