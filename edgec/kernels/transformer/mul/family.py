"""Product of two int8 tensors of a transformer in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.layer_end import accepts_rescale16, rescale16x15_of
from edgec.kernels.common.lengths import Looped
from edgec.kernels.common.loops import broadcast_loops
from edgec.kernels.common.rescale16 import Rescale16
from edgec.kernels.common.spec import Loop, Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.transformer.elementwise import elementwise_distances
from edgec.kernels.transformer.single import single_arguments
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Rescale16Mul(Plain):
    """Product of two int8 tensors with broadcasting; y is written in raster order.

    Attributes:
        loops: strides of a and b; y is contiguous.
        rescale16: how a product is stored.
        variable: the turns of the outermost loop are an argument.
    """

    family: ClassVar[str] = "rescale16_mul"
    template: ClassVar[Path] = template_beside(__file__, "rescale16_mul")
    loops: tuple[Loop, ...]
    rescale16: Rescale16
    variable: bool = False

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Product of two tensors, {math.prod(loop.size for loop in self.loops)} elements"


def spec(graph: Graph, node: Node, _target: Target) -> Rescale16Mul:
    """The specification for a QMul."""
    return Rescale16Mul(broadcast_loops(graph, node), Rescale16(rescale16x15_of(node)))


def overlap(spec: Rescale16Mul) -> Distances:
    """Elements are read in the order in which they are written, some of them again and again."""
    return elementwise_distances(spec.loops, 1, spec.rescale16.out_bytes)


FAMILY = KernelFamily(
    spec_type=Rescale16Mul,
    operators=(qops.QMul,),
    spec=spec,
    overlap=overlap,
    accepts=accepts_rescale16,
    arguments=single_arguments,
    lengths=Looped("loops"),
)
