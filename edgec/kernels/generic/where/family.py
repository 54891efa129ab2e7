"""Choice between two tensors in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.lengths import Looped
from edgec.kernels.common.loops import broadcast_loops
from edgec.kernels.common.overlap import by_bytes
from edgec.kernels.common.rescale16 import stored_type
from edgec.kernels.common.spec import Loop, Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Where(Plain):
    """Choice between two tensors with broadcasting; y is written in raster order.

    Attributes:
        loops: strides of the condition, of a and of b; y is contiguous.
        dtype: element type of a, b and y, INT8 or INT32; that of the condition is INT32.
        variable: the turns of the outermost loop are an argument.
    """

    family: ClassVar[str] = "where"
    template: ClassVar[Path] = template_beside(__file__, "where")
    loops: tuple[Loop, ...]
    dtype: DType
    variable: bool = False

    @property
    def y_type(self) -> str:
        """C type of an element of a, b and y."""
        return stored_type(self.dtype)

    def describe(self) -> str:
        """What the function computes, in words."""
        elements = math.prod(loop.size for loop in self.loops)
        return f"Choice between two tensors of {self.dtype.value}, {elements} elements"


def spec(graph: Graph, node: Node, _target: Target) -> Where:
    """The specification for a QWhere."""
    return Where(broadcast_loops(graph, node), graph.values[node.output].dtype)


def overlap(spec: Where) -> Distances:
    """Elements are read in the order in which they are written, some of them again and again."""
    size = spec.dtype.size_bytes
    sizes = (DType.INT32.size_bytes, size, size)
    return tuple(by_bytes(spec.loops, operand, read, size) for operand, read in enumerate(sizes))


FAMILY = KernelFamily(
    spec_type=Where,
    operators=(qops.QWhere,),
    spec=spec,
    overlap=overlap,
    lengths=Looped("loops"),
)
