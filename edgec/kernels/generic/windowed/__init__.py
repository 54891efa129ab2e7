"""Weighted sums over windows of codes of any types, in plain C: convolutions, matrix products."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node, Tensor
from edgec.ir.weighted import form_of
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.overlap import by_group
from edgec.kernels.common.spec import Plain, describe_image, describe_window
from edgec.kernels.common.weighted import (
    CONVOLUTIONS,
    MATRIX_PRODUCTS,
    ends_plainly,
    sum_bits,
    weighted16_arguments,
)
from edgec.kernels.common.window import Window, dense_window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_UNROLLED_TAPS = 25
"""Depthwise windows of more taps are loops everywhere."""


@dataclass(frozen=True, slots=True)
class Windowed(Plain):
    """Convolution of any number of groups, each output from its window.

    x [height, width, channels], weights int8 [out_channels, kernel_h, kernel_w, channels / group].

    Attributes:
        window: geometry; of a matrix product, a 1x1 window over [1, rows, depth].
        out_channels: filters.
        group: input and output channels are cut into this many independent groups.
        x, y: element types, INT8 or INT16.
        sum_bits: bits of a sum, 32 or 64.
        shift: right shift of the requantization; None: each filter has one (`qops.Once15`).
    """

    family: ClassVar[str] = "windowed"
    template: ClassVar[Path] = template_beside(__file__, "windowed")
    window: Window
    out_channels: int
    group: int
    x: DType
    y: DType
    sum_bits: int
    shift: int | None

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
    def types(self) -> tuple[str, str, str]:
        """C types of elements of x, of y and of sums."""
        return self.x.c_name, self.y.c_name, f"int{self.sum_bits}_t"

    @property
    def centre(self) -> str:
        """What takes its zero point from an element of x in C; int16 codes have none."""
        return " - p.x_zero_point" if self.x is DType.INT8 else ""

    @property
    def y_bits(self) -> int:
        """Bits of an element of y."""
        return 8 * self.y.size_bytes

    @property
    def params_type(self) -> str:
        """C type of the argument struct."""
        return "edgec_once_params_t" if self.shift is None else "edgec_conv16_params_t"

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


def spec(graph: Graph, node: Node, _target: Target) -> Windowed:
    """The specification for a convolution or matrix product."""
    attrs = node.attrs_as(qops.QConv, qops.QGemm)
    inputs: qops.PlainLayer.Inputs[Tensor] = qops.PlainLayer.Inputs.of(graph.tensors(node))
    once = isinstance(attrs.output, qops.Once15)
    return Windowed(
        window=dense_window(graph, node),
        out_channels=inputs.w.shape[0],
        group=getattr(attrs, "group", 1),
        x=inputs.x.dtype,
        y=attrs.output.dtype,
        sum_bits=sum_bits(inputs, attrs.reach),
        shift=None if once else getattr(attrs.output, "shift", 0),
    )


def overlap(spec: Windowed) -> Distances:
    """A window is read again for each channel of its output pixel."""
    return (by_group(spec.window, spec.out_channels, spec.group, spec.x, spec.y),)


def arguments(graph: Graph, node: Node, _spec: Windowed, pool: ConstantPool) -> tuple[Params, ...]:
    """Weights as the graph has them."""
    return (weighted16_arguments(graph, node, pool),)


def types(_graph: Graph, node: Node) -> bool:
    """Codes of any types in the two forms that it knows; int16 ones in `qops.Once15`."""
    return isinstance(form_of(node.attrs), qops.Once15) or ends_plainly(node)


FAMILY = KernelFamily(
    spec_type=Windowed,
    operators=(*CONVOLUTIONS, *MATRIX_PRODUCTS),
    spec=spec,
    overlap=overlap,
    types=types,
    arguments=arguments,
)
