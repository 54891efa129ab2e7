"""The larger or the smaller of two int8 tensors in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.lengths import Looped
from edgec.kernels.common.loops import broadcast_loops
from edgec.kernels.common.overlap import by_element
from edgec.kernels.common.spec import Loop, Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Extremum(Plain):
    """The larger or the smaller of two tensors with broadcasting; y is written in raster order.

    Attributes:
        loops: strides of a and b; y is contiguous.
        largest: the larger code, or else the smaller.
        variable: the turns of the outermost loop are an argument.
    """

    family: ClassVar[str] = "extremum"
    template: ClassVar[Path] = template_beside(__file__, "extremum")
    loops: tuple[Loop, ...]
    largest: bool
    variable: bool = False

    def describe(self) -> str:
        """What the function computes, in words."""
        which = "Larger" if self.largest else "Smaller"
        elements = math.prod(loop.size for loop in self.loops)
        return f"{which} of two tensors, {elements} elements"


def spec(graph: Graph, node: Node, _target: Target) -> Extremum:
    """The specification for a QExtremum."""
    return Extremum(broadcast_loops(graph, node), node.attrs_as(qops.QExtremum).largest)


def overlap(spec: Extremum) -> Distances:
    """Elements are read in the order in which they are written, some of them again and again."""
    return tuple(max(by_element(spec.loops, operand), 0) for operand in (0, 1))


FAMILY = KernelFamily(
    spec_type=Extremum,
    operators=(qops.QExtremum,),
    spec=spec,
    overlap=overlap,
    lengths=Looped("loops"),
)
