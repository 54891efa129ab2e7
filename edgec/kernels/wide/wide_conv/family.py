"""Convolution of 16-bit activations by 8-bit weights in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node, Tensor
from edgec.kernels.common.geometry import image_window
from edgec.kernels.common.overlap import pixel_distance
from edgec.kernels.common.spec import Plain, describe_image, describe_window
from edgec.kernels.common.window import Window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class WideConv(Plain):
    """Convolution of any number of groups, each output from its window.

    x int16 [height, width, channels], weights int8 [out_channels, kernel_h, kernel_w,
    channels / group], bias, multiplier and shift [out_channels].

    Attributes:
        window: geometry.
        out_channels: filters.
        group: input and output channels are cut into this many independent groups.
        sum_bits: bits of a sum, 32 or 64.
        act_min, act_max: bounds of the output.
    """

    family: ClassVar[str] = "wide_conv"
    template: ClassVar[Path] = template_beside(__file__, "wide_conv")
    window: Window
    out_channels: int
    group: int
    sum_bits: int
    act_min: int
    act_max: int

    @property
    def group_channels(self) -> int:
        """Input channels of a group."""
        return self.window.channels // self.group

    @property
    def group_filters(self) -> int:
        """Output channels of a group."""
        return self.out_channels // self.group

    @property
    def sum_type(self) -> str:
        """C type of a sum."""
        return f"int{self.sum_bits}_t"

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call."""
        w = self.window
        return w.out_pixels * self.out_channels * w.taps * self.group_channels

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        image = describe_image(w.height, w.width, w.channels)
        out = describe_image(w.out_height, w.out_width, self.out_channels)
        group = f", {self.group} groups" if self.group > 1 else ""
        return f"Convolution of int16 {image} to {out}, {describe_window(w)}{group}"


def spec(graph: Graph, node: Node, _target: Target) -> WideConv:
    """The specification for a QWideConv."""
    attrs = node.attrs_as(qops.QWideConv)
    inputs: qops.QWideConv.Inputs[Tensor] = qops.QWideConv.Inputs.of(graph.tensors(node))
    filters, height, width, _ = inputs.w.shape
    window = image_window(graph, node, attrs, (height, width))
    bits = attrs.sum_bits(inputs)
    return WideConv(window, filters, attrs.group, bits, attrs.act_min, attrs.act_max)


def overlap(spec: WideConv) -> Distances:
    """A window is read again for each channel of its output pixel."""
    w, size = spec.window, DType.INT16.size_bytes
    pixels = pixel_distance(w.last_readers(), spec.out_channels * size, w.channels * size)
    own = max(pixels + (spec.out_channels - 1) * size, 0)
    return (own, None, None, None, None)


FAMILY = KernelFamily(
    spec_type=WideConv,
    operators=(qops.QWideConv,),
    spec=spec,
    overlap=overlap,
)
