"""Convolution of int8 or int16 activations in plain C."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.kernels.common.constants import ConstantPool
from edgec.kernels.common.geometry import image_window
from edgec.kernels.common.params import Params
from edgec.kernels.common.spec import Plain, describe_image, describe_window
from edgec.kernels.common.window import Window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.kernels.mixed.layers import layer_params
from edgec.kernels.mixed.overlap import by_group
from edgec.target.target import Target

_UNROLLED_TAPS = 25
"""Depthwise windows of more taps are loops everywhere."""


@dataclass(frozen=True, slots=True)
class MixedConv(Plain):
    """Convolution of any number of groups, each output from its window.

    x [height, width, channels], weights int8 [out_channels, kernel_h, kernel_w, channels / group].

    Attributes:
        window: geometry.
        out_channels: filters.
        group: input and output channels are cut into this many independent groups.
        x, y: element types, INT8 or INT16.
        shift: right shift of the requantization.
    """

    family: ClassVar[str] = "mixed_conv"
    template: ClassVar[Path] = template_beside(__file__, "mixed_conv")
    window: Window
    out_channels: int
    group: int
    x: DType
    y: DType
    shift: int

    @property
    def group_channels(self) -> int:
        """Input channels of a group."""
        return self.window.channels // self.group

    @property
    def group_filters(self) -> int:
        """Output channels of a group."""
        return self.out_channels // self.group

    @property
    def taps(self) -> tuple[tuple[int, int], ...]:
        """(row, column) of each tap, in the order of the weights."""
        return tuple(itertools.product(range(self.window.kernel_h), range(self.window.kernel_w)))

    @property
    def unrolled(self) -> bool:
        """Pixels of depthwise windows inside the image have code without loops over the taps."""
        depthwise = self.group == self.out_channels == self.window.channels
        return depthwise and self.window.taps <= _UNROLLED_TAPS and self.window.fits

    @property
    def x_type(self) -> str:
        """C type of an element of x."""
        return self.x.c_name

    @property
    def y_type(self) -> str:
        """C type of an element of y."""
        return self.y.c_name

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call, those of padding included."""
        w = self.window
        return w.out_pixels * self.out_channels * w.taps * self.group_channels

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        image = describe_image(w.height, w.width, w.channels)
        out = describe_image(w.out_height, w.out_width, self.out_channels)
        group = f", {self.group} groups" if self.group > 1 else ""
        kinds = f"{self.x.value} {image} to {self.y.value} {out}"
        return f"Convolution of {kinds}, {describe_window(w)}{group}"


def spec(graph: Graph, node: Node, _target: Target) -> MixedConv:
    """The specification for a QMixedConv."""
    attrs = node.attrs_as(qops.QMixedConv)
    filters, height, width, _ = graph.shape(qops.QMixedConv.Inputs.of(node.inputs).w)
    window = image_window(graph, node, attrs, (height, width))
    kinds = graph.values[node.first].dtype, attrs.output.dtype
    return MixedConv(window, filters, attrs.group, *kinds, attrs.output.shift)


def overlap(spec: MixedConv) -> Distances:
    """A window is read again for each channel of its output pixel."""
    return (by_group(spec.window, spec.out_channels, spec.group, spec.x, spec.y),)


def arguments(graph: Graph, node: Node, _spec: MixedConv, pool: ConstantPool) -> tuple[Params, ...]:
    """Weights as the graph has them."""
    return (layer_params(graph, node, pool),)


FAMILY = KernelFamily(
    spec_type=MixedConv,
    operators=(qops.QMixedConv,),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
)
