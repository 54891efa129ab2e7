"""Maximum over a sliding window, in plain C or some channels at a time."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from edgec.base.digests import LATER
from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.overlap import by_pixel
from edgec.kernels.common.spec import Plain, describe_image, describe_window
from edgec.kernels.common.window import Window, pooling_window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_UNROLLED_TAPS = 25
"""Windows of more taps are compared by words everywhere, in loops."""


@dataclass(frozen=True, slots=True)
class MaxPool(Plain):
    """x [height, width, channels], y [out_height, out_width, channels], of one type.

    Attributes:
        window: geometry.
        dtype: element type, INT8 or INT16.
        in_words: the core compares the numbers of a word in two instructions, so that no window
            has code for single numbers; windows at an edge have none anywhere
            (`edgec/pooling/largest.h`).
    """

    family: ClassVar[str] = "max_pool"
    template: ClassVar[Path] = template_beside(__file__, "max_pool")
    window: Window
    dtype: DType = DType.INT8
    in_words: bool = field(default=False, metadata=LATER)

    @property
    def taps(self) -> tuple[tuple[int, int], ...]:
        """(row, column) of each tap, where windows inside the image have code without loops."""
        w = self.window
        if self.in_words or w.taps > _UNROLLED_TAPS or not w.fits:
            return ()
        return tuple(itertools.product(range(w.kernel_h), range(w.kernel_w)))

    @property
    def least(self) -> str:
        """Least element, as C names it."""
        return f"{self.dtype.name}_MIN"

    @property
    def c_type(self) -> str:
        """C type of an element."""
        return self.dtype.c_name

    @property
    def suffix(self) -> str:
        """End of the name of the C function of a window."""
        return f"s{8 * self.dtype.size_bytes}"

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        return f"Maximum pool {describe_image(w.height, w.width, w.channels)}, {describe_window(w)}"


def spec(graph: Graph, node: Node, target: Target) -> MaxPool:
    """The specification for a QMaxPool."""
    dtype = graph.values[node.output].dtype
    in_words = target.has_dsp or target.has_neon
    return MaxPool(pooling_window(graph, node), dtype, in_words=in_words)


def overlap(spec: MaxPool) -> Distances:
    """A few channels at a time; the distance is that of whole pixels."""
    elements = by_pixel(spec.window, spec.window.channels)
    return (max(elements, 0) * spec.dtype.size_bytes,)


FAMILY = KernelFamily(
    spec_type=MaxPool,
    operators=(qops.QMaxPool,),
    spec=spec,
    overlap=overlap,
)
