"""Mean of int16 codes over a sliding window in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.geometry import image_of, make_window
from edgec.kernels.common.overlap import by_pixel
from edgec.kernels.common.spec import Plain, describe_image, describe_window
from edgec.kernels.common.window import Window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class WideAverage(Plain):
    """Mean of the codes in windows.

    Attributes:
        window: geometry.
        act_min, act_max: bounds of y.
    """

    family: ClassVar[str] = "wide_average"
    template: ClassVar[Path] = template_beside(__file__, "wide_average")
    window: Window
    act_min: int
    act_max: int

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        image = describe_image(w.height, w.width, w.channels)
        return f"Average pool of int16 codes {image}, {describe_window(w)}"


def spec(graph: Graph, node: Node, _target: Target) -> WideAverage:
    """The specification for a QWideAverage."""
    attrs = node.attrs_as(qops.QWideAverage)
    image, out = image_of(graph, node, node.first), image_of(graph, node, node.output)
    window = make_window(image, out, attrs.kernel, attrs.strides, attrs.pads, attrs.dilations)
    return WideAverage(window, attrs.act_min, attrs.act_max)


def overlap(spec: WideAverage) -> Distances:
    """Channel by channel; the distance is that of whole pixels."""
    return (max(by_pixel(spec.window, spec.window.channels), 0) * DType.INT16.size_bytes,)


FAMILY = KernelFamily(
    spec_type=WideAverage,
    operators=(qops.QWideAverage,),
    spec=spec,
    overlap=overlap,
)
