"""Transposed convolution, from the inputs that each output is joined to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from edgec.base.digests import LATER
from edgec.base.dtypes import Array
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.constants import ConstantPool, Params
from edgec.kernels.common.form_ends import Rescale16, Tflite31, TypedEnd
from edgec.kernels.common.interface import LayerFunction
from edgec.kernels.common.layer_end import end_of, typed_end
from edgec.kernels.common.overlap import pixel_distance
from edgec.kernels.common.spec import describe_image, describe_window
from edgec.kernels.common.weighted import weighted_arguments
from edgec.kernels.common.window import Window, image_of, make_window
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target

_BLOCK = 2
"""Filters that share the loops over the inputs."""


@dataclass(frozen=True, slots=True)
class ConvTranspose(LayerFunction):
    """Transposed convolution, computed output pixel by output pixel.

    x [out_height, out_width, channels_in] and y [height, width, channels] of `window`, which is the
    convolution that this one transposes: it reads y and writes x.  weights int8 [channels,
    kernel_h, kernel_w, in_channels / group].
    """

    family: ClassVar[str] = "conv_transpose"
    template: ClassVar[Path] = template_beside(__file__, "conv_transpose")
    scratch_name: ClassVar[str | None] = None
    window: Window
    in_channels: int
    group: int
    shift: int
    residual_shift: int | None = field(default=None, metadata=LATER)
    rescale16: Rescale16 | None = field(default=None, metadata=LATER)
    tflite31: Tflite31 | None = field(default=None, metadata=LATER)
    typed: TypedEnd | None = field(default=None, metadata=LATER)

    @property
    def steps(self) -> tuple[int, int]:
        """Taps down and across from one that has an input to the next."""
        w = self.window
        pairs = ((w.stride_h, w.dilation_h), (w.stride_w, w.dilation_w))
        down, across = (stride // math.gcd(stride, dilation) for stride, dilation in pairs)
        return down, across

    @property
    def block(self) -> int:
        """Filters of a group that are computed together."""
        return min(_BLOCK, self.group_filters)

    @property
    def rest(self) -> int:
        """Filters of a group that are left after the last full block."""
        return self.group_filters % self.block

    @property
    def second(self) -> str:
        """Address of the second sum of a full block in C."""
        return "&sum1" if self.block > 1 else "NULL"

    @property
    def takes_words(self) -> bool:
        """Some numbers at a time (`edgec/dense/dots_s8.h`)."""
        return not self.reads_int16 and self.sum_type == "int32_t"

    @property
    def scratch_bytes(self) -> int:
        """Always 0."""
        return 0

    @property
    def group_channels(self) -> int:
        """Input channels of a group."""
        return self.in_channels // self.group

    @property
    def group_filters(self) -> int:
        """Output channels of a group."""
        return self.window.channels // self.group

    @property
    def out_elements(self) -> int:
        """Elements of y."""
        return self.window.height * self.window.width * self.window.channels

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one call, those that fall outside y included."""
        return self.window.out_pixels * self.in_channels * self.window.taps * self.group_filters

    def describe(self) -> str:
        """What the function computes, in words."""
        w = self.window
        group = f", {self.group} groups" if self.group > 1 else ""
        x = describe_image(w.out_height, w.out_width, self.in_channels)
        y = describe_image(w.height, w.width, w.channels)
        return f"Transposed convolution {x} to {y}, {describe_window(w)}{group}"


def spec(graph: Graph, node: Node, _target: Target) -> ConvTranspose:
    """The specification for a QConvTranspose."""
    attrs, inputs = node.attrs_as(qops.QConvTranspose), plain_inputs(node)
    x, y = image_of(graph, node, inputs.x), image_of(graph, node, node.output)
    kernel = graph.shape(inputs.w)[1:3]
    window = make_window(y, x, (kernel[0], kernel[1]), attrs.strides, attrs.pads, attrs.dilations)
    end, typed = end_of(graph, node), typed_end(graph, node)
    return ConvTranspose(window, x[2], attrs.group, *end, typed=typed)


def overlap(spec: ConvTranspose) -> Distances:
    """Outputs are written filter by filter, or two after the reads of both, which is earlier."""
    return (max(_distance(spec, spec.x_dtype.size_bytes, spec.out_bytes), 0),)


def _distance(spec: ConvTranspose, read: int, written: int) -> int:
    """max(T(i) - i) with `read` and `written` bytes an element of x and of y."""
    w = spec.window
    rows = _last_written(w.out_height, w.height, w.kernel_h, w.stride_h, w.pad_top, w.dilation_h)
    cols = _last_written(w.out_width, w.width, w.kernel_w, w.stride_w, w.pad_left, w.dilation_w)
    pixels = rows[:, None] * w.width + cols[None, :]
    readers = np.where((rows[:, None] < 0) | (cols[None, :] < 0), -1, pixels)
    within = max(
        ((group + 1) * spec.group_filters - 1) * written - group * spec.group_channels * read
        for group in (0, spec.group - 1)
    )
    return pixel_distance(readers, w.channels * written, spec.in_channels * read) + within


def _last_written(
    size: int, out_size: int, taps: int, stride: int, pad: int, dilation: int
) -> Array:
    """int64 [size]: the last output index of a transposed convolution that reads each input."""
    tap = np.arange(taps, dtype=np.int64) * dilation
    reached = np.arange(size, dtype=np.int64)[:, None] * stride - pad + tap[None, :]
    return np.asarray(np.where((reached >= 0) & (reached < out_size), reached, -1).max(axis=1))


def arguments(
    graph: Graph, node: Node, _spec: ConvTranspose, pool: ConstantPool
) -> tuple[Params, ...]:
    """Weights as the graph has them; the kernel leaves out what lies outside of x."""
    return weighted_arguments(graph, node, pool, folds=False)


FAMILY = KernelFamily(
    spec_type=ConvTranspose,
    operators=(qops.QConvTranspose,),
    spec=spec,
    overlap=overlap,
    arguments=arguments,
)
