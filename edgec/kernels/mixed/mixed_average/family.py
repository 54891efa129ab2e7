"""Mean over windows of int8 or int16 in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.geometry import image_window
from edgec.kernels.common.spec import Plain, describe_image, describe_window
from edgec.kernels.common.window import Window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.mixed.overlap import by_group
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class MixedAverage(Plain):
    """Mean of windows; multipliers int32 [kernel_h * kernel_w + 1], by the number of taps counted.

    Attributes:
        window: geometry.
        counts_padding: every output divides by the same number.
        x, y: element types, INT8 or INT16.
        x_zero_point: code of 0.
        shift, zero_point, low, high: numbers of the requantization.
    """

    family: ClassVar[str] = "mixed_average"
    template: ClassVar[Path] = template_beside(__file__, "mixed_average")
    window: Window
    counts_padding: bool
    x: DType
    y: DType
    x_zero_point: int
    shift: int
    zero_point: int
    low: int
    high: int

    @property
    def counts_all(self) -> bool:
        """The divisor is the same everywhere."""
        return self.counts_padding or not (self.window.rows_clipped or self.window.cols_clipped)

    @property
    def x_type(self) -> str:
        """C type of an element of x."""
        return self.x.c_name

    @property
    def y_type(self) -> str:
        """C type of an element of y."""
        return self.y.c_name

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        image = describe_image(w.height, w.width, w.channels)
        return f"Average pool of {self.x.value} {image}, {describe_window(w)}"


def spec(graph: Graph, node: Node, _target: Target) -> MixedAverage:
    """The specification for a QMixedAverage."""
    attrs, form = node.attrs_as(qops.QMixedAverage), node.attrs_as(qops.QMixedAverage).output
    return MixedAverage(
        window=image_window(graph, node, attrs, attrs.kernel),
        counts_padding=attrs.count_include_pad,
        x=graph.values[node.first].dtype,
        y=form.dtype,
        x_zero_point=graph.quant(node.first).tensor_zero_point,
        shift=form.shift,
        zero_point=form.zero_point,
        low=form.low,
        high=form.high,
    )


def overlap(spec: MixedAverage) -> Distances:
    """Channel by channel; the multipliers are constants."""
    channels = spec.window.channels
    return (by_group(spec.window, channels, channels, spec.x, spec.y), None)


FAMILY = KernelFamily(
    spec_type=MixedAverage,
    operators=(qops.QMixedAverage,),
    spec=spec,
    overlap=overlap,
    constant_stem="multipliers",
)
