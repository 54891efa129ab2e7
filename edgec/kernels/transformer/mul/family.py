"""Product of two int8 tensors of a transformer in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.layer_end import on_narrow_ends, rescale16x15_of
from edgec.kernels.common.lengths import Looped
from edgec.kernels.common.loops import broadcast_loops
from edgec.kernels.common.narrow import Narrow
from edgec.kernels.common.spec import Loop, Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.transformer.elementwise import elementwise_distances
from edgec.kernels.transformer.single import single_arguments
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class NarrowMul(Plain):
    """Product of two int8 tensors with broadcasting; y is written in raster order.

    Attributes:
        loops: strides of a and b; y is contiguous.
        narrow: how a product is stored.
        variable: the turns of the outermost loop are an argument.
    """

    family: ClassVar[str] = "narrow_mul"
    template: ClassVar[Path] = template_beside(__file__, "narrow_mul")
    loops: tuple[Loop, ...]
    narrow: Narrow
    variable: bool = False

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Product of two tensors, {math.prod(loop.size for loop in self.loops)} elements"


def spec(graph: Graph, node: Node, target: Target) -> NarrowMul:
    """The specification for a QMul."""
    return NarrowMul(broadcast_loops(graph, node), Narrow(rescale16x15_of(node)))


def overlap(spec: NarrowMul) -> Distances:
    """Elements are read in the order in which they are written, some of them again and again."""
    return elementwise_distances(spec.loops, 1, spec.narrow.out_bytes)


FAMILY = KernelFamily(
    spec_type=NarrowMul,
    operators=(qops.QMul,),
    spec=spec,
    overlap=overlap,
    accepts=on_narrow_ends,
    arguments=single_arguments,
    lengths=Looped("loops"),
)
