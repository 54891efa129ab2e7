"""Mean or sum over axes of a transformer's tensors in plain C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.layer_end import accepts_rescale16, rescale16x15_of
from edgec.kernels.common.lengths import Looped
from edgec.kernels.common.loops import reduction_loops
from edgec.kernels.common.rescale16 import Rescale16, stored_type
from edgec.kernels.common.spec import Loop, Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.transformer.single import dtype_of, single_arguments
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Rescale16Reduce(Plain):
    """Mean or sum over some axes; y is written in raster order.

    Attributes:
        dtype: element type of x, INT8 or INT16.
        kept: loops over y, with strides of x.
        reduced: loops over what is summed up, with strides of x.
        rescale16: how a sum is stored.
        variable: the turns of the outermost loop over y are an argument.
    """

    family: ClassVar[str] = "rescale16_reduce"
    template: ClassVar[Path] = template_beside(__file__, "rescale16_reduce")
    dtype: DType
    kept: tuple[Loop, ...]
    reduced: tuple[Loop, ...]
    rescale16: Rescale16
    variable: bool = False

    @property
    def x_type(self) -> str:
        """C type of an element of x."""
        return stored_type(self.dtype)

    def describe(self) -> str:
        """What the function computes, in words."""
        terms = math.prod(loop.size for loop in self.reduced)
        outputs = math.prod(loop.size for loop in self.kept)
        return f"Sum of {terms} elements of {self.dtype.value}, {outputs} times"


def spec(graph: Graph, node: Node, _target: Target) -> Rescale16Reduce:
    """The specification for a QReduce."""
    attrs = node.attrs_as(qops.QReduce)
    x = node.input
    kept, reduced = reduction_loops(graph.shape(x), attrs.axes)
    return Rescale16Reduce(dtype_of(graph, x), kept, reduced, Rescale16(rescale16x15_of(node)))


def overlap(_spec: Rescale16Reduce) -> Distances:
    """The output does not overlap the input."""
    return (None,)


FAMILY = KernelFamily(
    spec_type=Rescale16Reduce,
    operators=(qops.QReduce,),
    spec=spec,
    overlap=overlap,
    accepts=accepts_rescale16,
    arguments=single_arguments,
    lengths=Looped("kept"),
)
