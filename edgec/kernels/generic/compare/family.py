"""Comparison of two tensors in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.ops import CompareKind
from edgec.kernels.common.lengths import Looped
from edgec.kernels.common.loops import broadcast_loops
from edgec.kernels.common.overlap import by_bytes
from edgec.kernels.common.rescale16 import stored_type
from edgec.kernels.common.spec import Loop, Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_RELATIONS = {CompareKind.EQUAL: "==", CompareKind.LESS: "<", CompareKind.LESS_OR_EQUAL: "<="}


@dataclass(frozen=True, slots=True)
class Compare(Plain):
    """Comparison of two tensors with broadcasting; y int32 is written in raster order.

    Attributes:
        loops: strides of a and b; y is contiguous.
        kind: the relation.
        dtype: element type of a and b, INT8 or INT32.
        a_multiplier, b_multiplier, offset: see `qops.QCompare`.
        variable: the turns of the outermost loop are an argument.
    """

    family: ClassVar[str] = "compare"
    template: ClassVar[Path] = template_beside(__file__, "compare")
    loops: tuple[Loop, ...]
    kind: CompareKind
    dtype: DType
    a_multiplier: int = 1
    b_multiplier: int = 1
    offset: int = 0
    variable: bool = False

    @property
    def relation(self) -> str:
        """The relation in C."""
        return _RELATIONS[self.kind]

    @property
    def x_type(self) -> str:
        """C type of an element of a and b."""
        return stored_type(self.dtype)

    @property
    def is_plain(self) -> bool:
        """Elements are compared as they are."""
        return (self.a_multiplier, self.b_multiplier, self.offset) == (1, 1, 0)

    def describe(self) -> str:
        """What the function computes, in words."""
        elements = math.prod(loop.size for loop in self.loops)
        return f"{self.kind.value} of two tensors of {self.dtype.value}, {elements} elements"


def spec(graph: Graph, node: Node, _target: Target) -> Compare:
    """The specification for a QCompare."""
    attrs = node.attrs_as(qops.QCompare)
    numbers = attrs.a_multiplier, attrs.b_multiplier, attrs.offset
    dtype = graph.tensor(qops.QCompare.Inputs.of(node.inputs).a).dtype
    return Compare(broadcast_loops(graph, node), attrs.kind, dtype, *numbers)


def overlap(spec: Compare) -> Distances:
    """Elements are read in the order in which they are written, which takes 4 bytes each."""
    size = spec.dtype.size_bytes
    return tuple(by_bytes(spec.loops, operand, size, 4) for operand in (0, 1))


FAMILY = KernelFamily(
    spec_type=Compare,
    operators=(qops.QCompare,),
    spec=spec,
    overlap=overlap,
    lengths=Looped("loops"),
)
