"""Index of the maximum along an axis in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.digests import LATER
from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.lengths import Counted
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class ArgMax(Plain):
    """x int8 or int16 [outer, depth, inner], y int32 [outer, inner].

    Attributes:
        last: True: of several largest elements the last, else the first.
        smallest: the smallest elements are looked for, not the largest.
        variable: `outer` of a run is an argument.
        dtype: element type of x.
    """

    family: ClassVar[str] = "arg_max"
    template: ClassVar[Path] = template_beside(__file__, "arg_max")
    outer: int
    depth: int
    inner: int
    last: bool
    variable: bool = False
    smallest: bool = False
    dtype: DType = field(default=DType.INT8, metadata=LATER)

    @property
    def c_type(self) -> str:
        """C type of an element of x."""
        return self.dtype.c_name

    @property
    def beats(self) -> str:
        """How an element compares with the one that it takes the place of."""
        return ("<" if self.smallest else ">") + ("=" if self.last else "")

    def describe(self) -> str:
        """What the function computes, in words."""
        which = "last" if self.last else "first"
        what = "minimum" if self.smallest else "maximum"
        return f"Index of the {which} {what} over {self.depth}, {self.outer * self.inner} times"


def spec(graph: Graph, node: Node, _target: Target) -> ArgMax:
    """The specification for a QArgMax."""
    attrs = node.attrs_as(qops.QArgMax)
    shape, dtype = graph.shape(node.input), graph.tensor(node.input).dtype
    outer, inner = math.prod(shape[: attrs.axis]), math.prod(shape[attrs.axis + 1 :])
    last, smallest = attrs.select_last_index, attrs.smallest
    return ArgMax(outer, shape[attrs.axis], inner, last, smallest=smallest, dtype=dtype)


def overlap(spec: ArgMax) -> Distances:
    """Y is int32: 4 bytes at [outer, inner], when x [outer, 0..depth, inner] has been read."""
    size = spec.dtype.size_bytes
    per_outer = spec.inner * (4 - spec.depth * size)
    return ((4 - size) * (spec.inner - 1) + max(0, (spec.outer - 1) * per_outer),)


FAMILY = KernelFamily(
    spec_type=ArgMax,
    operators=(qops.QArgMax,),
    spec=spec,
    overlap=overlap,
    lengths=Counted("outer"),
)
