"""Sum of two tensors of a transformer's stream in plain C."""

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
from edgec.kernels.common.rescale16 import stored_type
from edgec.kernels.common.spec import Loop, Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.transformer.elementwise import elementwise_distances
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class StreamAdd(Plain):
    """Sum of two tensors of a stream with broadcasting, saturated; y is written in raster order.

    Attributes:
        loops: strides of a and b; y is contiguous.
        variable: the turns of the outermost loop are an argument.
        dtype: element type of a, b and y, INT16 or INT8.
    """

    family: ClassVar[str] = "stream_add"
    template: ClassVar[Path] = template_beside(__file__, "stream_add")
    loops: tuple[Loop, ...]
    variable: bool = False
    dtype: DType = DType.INT16

    @property
    def c_type(self) -> str:
        """C type of an element."""
        return stored_type(self.dtype)

    @property
    def is_wide(self) -> bool:
        """Elements are int16."""
        return self.dtype is DType.INT16

    def describe(self) -> str:
        """What the function computes, in words."""
        count = math.prod(loop.size for loop in self.loops)
        return f"Sum of two {self.dtype.value} tensors, {count} elements"


def spec(graph: Graph, node: Node, _target: Target) -> StreamAdd:
    """The specification for a QStreamAdd."""
    return StreamAdd(broadcast_loops(graph, node), dtype=node.attrs_as(qops.QStreamAdd).dtype)


def overlap(spec: StreamAdd) -> Distances:
    """Elements are read in the order in which they are written, some of them again and again."""
    return elementwise_distances(spec.loops, spec.dtype.size_bytes, spec.dtype.size_bytes)


FAMILY = KernelFamily(
    spec_type=StreamAdd,
    operators=(qops.QStreamAdd,),
    spec=spec,
    overlap=overlap,
    lengths=Looped("loops"),
)
