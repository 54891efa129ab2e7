"""Maximum over a sliding window in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.overlap import by_pixel
from edgec.kernels.common.spec import Plain, describe_image, describe_window
from edgec.kernels.common.window import Window, pooling_window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class MaxPool(Plain):
    """x [height, width, channels], y [out_height, out_width, channels], of one type.

    Attributes:
        window: geometry.
        dtype: element type, INT8 or INT16.
    """

    family: ClassVar[str] = "max_pool"
    template: ClassVar[Path] = template_beside(__file__, "max_pool")
    window: Window
    dtype: DType = DType.INT8

    @property
    def c_type(self) -> str:
        """C type of an element."""
        return self.dtype.c_name

    @property
    def least(self) -> str:
        """Least element, as C names it."""
        return f"{self.dtype.name}_MIN"

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        return f"Maximum pool {describe_image(w.height, w.width, w.channels)}, {describe_window(w)}"


def spec(graph: Graph, node: Node, _target: Target) -> MaxPool:
    """The specification for a QMaxPool."""
    return MaxPool(pooling_window(graph, node), graph.values[node.output].dtype)


def overlap(spec: MaxPool) -> Distances:
    """Channel by channel; the distance is that of whole pixels."""
    elements = by_pixel(spec.window, spec.window.channels)
    return (max(elements, 0) * spec.dtype.size_bytes,)


FAMILY = KernelFamily(
    spec_type=MaxPool,
    operators=(qops.QMaxPool,),
    spec=spec,
    overlap=overlap,
)
