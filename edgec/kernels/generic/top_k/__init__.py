"""The largest or smallest codes of a row in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.digests import LATER
from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class TopK(Plain):
    """x int8 or int16 [rows, depth], y [rows, k]: such codes, or int32 indices, or both.

    Attributes:
        rows, depth, k: shapes.
        largest: the largest codes, or else the smallest.
        indices: where they are, instead of the codes.
        both: the codes, and in a further output the indices.
        dtype: element type of codes.
    """

    family: ClassVar[str] = "top_k"
    template: ClassVar[Path] = template_beside(__file__, "top_k")
    rows: int
    depth: int
    k: int
    largest: bool
    indices: bool
    both: bool = field(default=False, metadata=LATER)
    dtype: DType = field(default=DType.INT8, metadata=LATER)

    @property
    def c_type(self) -> str:
        """C type of a code."""
        return self.dtype.c_name

    @property
    def outputs(self) -> tuple[tuple[str, str, str], ...]:
        """Name of each output, C type of an element, and an element in C."""
        codes, indices = ("y", self.c_type, "from[best]"), ("y", "edgec_s32_t", "best")
        if self.both:
            return codes, ("indices", *indices[1:])
        return (indices if self.indices else codes,)

    @property
    def beats(self) -> str:
        """How a code that comes earlier compares with one that comes later."""
        return ">" if self.largest else "<"

    def describe(self) -> str:
        """What the function computes, in words."""
        which = "largest" if self.largest else "smallest"
        what = "Indices of the" if self.indices else "The"
        what = "Codes and indices of the" if self.both else what
        return f"{what} {self.k} {which} of {self.depth} codes, {self.rows} times"


def spec(graph: Graph, node: Node, _target: Target) -> TopK:
    """The specification for a QTopK."""
    shape, attrs = graph.shape(node.input), node.attrs_as(qops.QTopK)
    rows, depth = math.prod(shape[:-1]), shape[-1]
    dtype = graph.tensor(node.input).dtype
    return TopK(rows, depth, attrs.k, attrs.largest, attrs.indices, attrs.both, dtype)


def overlap(_spec: TopK) -> Distances:
    """A row is read again for each element of y."""
    return (None,)


FAMILY = KernelFamily(
    spec_type=TopK,
    operators=(qops.QTopK,),
    spec=spec,
    overlap=overlap,
)
