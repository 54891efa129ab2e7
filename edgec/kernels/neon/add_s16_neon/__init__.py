"""Sum of two int16 tensors on cores with NEON."""

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
from edgec.kernels.neon.attention import COLUMNS
from edgec.kernels.neon.residual import on_wide_streams
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class StreamAddNeon(Plain):
    """Sum of two int16 tensors of one shape, saturated, eight elements at a time.

    Attributes:
        count: elements.
        variable: the elements of a run are an argument.
    """

    family: ClassVar[str] = "add_s16_neon"
    template: ClassVar[Path] = template_beside(__file__, "add_s16_neon")
    count: int
    variable: bool = False

    @property
    def has_rest(self) -> bool:
        """Elements are left after the last full vector, or may be."""
        return self.variable or self.count % COLUMNS > 0

    def describe(self) -> str:
        """Operator and count in words, for a comment in C."""
        return f"Sum of two int16 tensors, {self.count} elements"


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A sum without broadcasting."""
    shapes = {graph.shape(name) for name in (*node.inputs, node.output)}
    return on_wide_streams(graph, node, target) and len(shapes) == 1


def spec(graph: Graph, node: Node, _target: Target) -> StreamAddNeon:
    """The specification for a QAdd."""
    return StreamAddNeon(math.prod(graph.shape(node.output)))


def overlap(_spec: StreamAddNeon) -> Distances:
    """Element by element."""
    return (IN_PLACE, IN_PLACE)


FAMILY = KernelFamily(
    spec_type=StreamAddNeon,
    operators=(qops.QAdd,),
    spec=spec,
    overlap=overlap,
    accepts=accepts,
    lengths=Counted("count"),
)
