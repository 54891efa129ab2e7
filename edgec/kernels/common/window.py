"""A two-dimensional sliding window: the geometry that convolutions and pools share.

Images and windows of the nodes of a graph.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import LoweringError
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.shapes import Pads2D, Pair
from edgec.ir.shapes import Window as WindowAttrs
from edgec.ir.weighted import plain_inputs


@dataclass(frozen=True, slots=True)
class Window:
    """A window that slides over an image [height, width, channels] of int8.

    Output pixel (oy, ox) reads the input rows ``oy * stride_h - pad_top + ky * dilation_h`` for ky
    in [0, kernel_h) that lie inside the image, and columns likewise.

    Attributes:
        height, width, channels: sizes of the input image.
        out_height, out_width: sizes of the output image.
        kernel_h, kernel_w: taps.
        stride_h, stride_w: input pixels between two output pixels.
        pad_top, pad_left: rows and columns outside the image before the first one.
        dilation_h, dilation_w: input pixels between two taps.
    """

    height: int
    width: int
    channels: int
    out_height: int
    out_width: int
    kernel_h: int
    kernel_w: int
    stride_h: int
    stride_w: int
    pad_top: int
    pad_left: int
    dilation_h: int
    dilation_w: int

    @property
    def taps(self) -> int:
        """Positions of the window."""
        return self.kernel_h * self.kernel_w

    @property
    def out_pixels(self) -> int:
        """Pixels of the output image."""
        return self.out_height * self.out_width

    @property
    def reach_w(self) -> int:
        """Columns from a window's first tap to the one after its last."""
        return (self.kernel_w - 1) * self.dilation_w + 1

    @property
    def fits(self) -> bool:
        """The window is no larger than the image: there may be pixels that read no padding."""
        return (self.kernel_h - 1) * self.dilation_h < self.height and self.reach_w <= self.width

    @property
    def rows_clipped(self) -> bool:
        """Some window has rows outside the image."""
        last = (self.out_height - 1) * self.stride_h + (self.kernel_h - 1) * self.dilation_h
        return self.pad_top > 0 or last - self.pad_top >= self.height

    @property
    def cols_clipped(self) -> bool:
        """Some window has columns outside the image."""
        last = (self.out_width - 1) * self.stride_w + self.reach_w - 1
        return self.pad_left > 0 or last - self.pad_left >= self.width

    @property
    def is_pointwise(self) -> bool:
        """Each output pixel reads the input pixel at its own place."""
        return (
            self.taps == 1
            and (self.stride_h, self.stride_w) == (1, 1)
            and (self.out_height, self.out_width) == (self.height, self.width)
            and not self.rows_clipped
            and not self.cols_clipped
        )

    @property
    def is_whole_image(self) -> bool:
        """The only output pixel reads the whole image, each input pixel once, in order."""
        return (
            (self.kernel_h, self.kernel_w) == (self.height, self.width)
            and self.out_pixels == 1
            and not self.rows_clipped
            and not self.cols_clipped
        )

    @property
    def columns_are_runs(self) -> bool:
        """The columns a window reads are one run of memory that touches the image."""
        last = (self.out_width - 1) * self.stride_w - self.pad_left
        return self.dilation_w == 1 and self.pad_left < self.kernel_w and last < self.width

    def taps_down(self) -> list[int]:
        """Rows of the window of each row of the output that lie inside the image."""
        return _taps_inside(
            *(self.height, self.out_height, self.kernel_h),
            *(self.stride_h, self.pad_top, self.dilation_h),
        )

    def taps_across(self) -> list[int]:
        """Columns of the window of each column of the output that lie inside the image."""
        return _taps_inside(
            *(self.width, self.out_width, self.kernel_w),
            *(self.stride_w, self.pad_left, self.dilation_w),
        )

    def last_readers(self) -> Array:
        """int64 [height, width]: the last output pixel, in raster order, that reads each pixel.

        -1 where no window has a tap.
        """
        rows = _last_along_axis(
            self.height,
            self.out_height,
            self.kernel_h,
            self.stride_h,
            self.pad_top,
            self.dilation_h,
        )
        cols = _last_along_axis(
            self.width, self.out_width, self.kernel_w, self.stride_w, self.pad_left, self.dilation_w
        )
        pixels = rows[:, None] * self.out_width + cols[None, :]
        return np.where((rows[:, None] < 0) | (cols[None, :] < 0), -1, pixels)


def _taps_inside(
    size: int, out_size: int, taps: int, stride: int, pad: int, dilation: int
) -> list[int]:
    """Number of taps inside the image, for each output index of one axis."""
    places = [
        range(at * stride - pad, at * stride - pad + taps * dilation, dilation)
        for at in range(out_size)
    ]
    return [sum(0 <= place < size for place in each) for each in places]


def _last_along_axis(
    size: int, out_size: int, taps: int, stride: int, pad: int, dilation: int
) -> Array:
    """int64 [size]: the last output index that reads each input index of one axis, or -1."""
    last = np.full(size, -1, np.int64)
    out = np.arange(out_size, dtype=np.int64)
    for tap in range(taps):
        read = out * stride - pad + tap * dilation
        inside = (read >= 0) & (read < size)
        np.maximum.at(last, read[inside], out[inside])
    return last


def image_of(graph: Graph, node: Node, name: str) -> tuple[int, int, int]:
    """Height, width and channels of a tensor of one image.

    Raises:
        LoweringError: it holds something else.
    """
    shape = graph.shape(name)
    if len(shape) != 4 or shape[0] != 1:
        raise LoweringError(
            f"an image of shape {shape} reaches the spatial operator {node.op}",
            where=node.name,
            hint="kernels work on one image [1, H, W, C] at a time; export with batch 1",
        )
    return shape[1], shape[2], shape[3]


def make_window(
    image: tuple[int, int, int],
    out: tuple[int, int, int],
    kernel: Pair,
    strides: Pair,
    pads: Pads2D,
    dilations: Pair,
) -> Window:
    """The window of an operator, from its image, its output and its attributes."""
    return Window(
        *image, out[0], out[1], *kernel, *strides, pads[0], pads[1], dilations[0], dilations[1]
    )


def conv_window(graph: Graph, node: Node) -> Window:
    """Geometry of a QConv."""
    kernel = graph.shape(plain_inputs(node).w)[1:3]
    attrs = node.attrs_as(qops.QConv)
    return image_window(graph, node, attrs, (kernel[0], kernel[1]))


def image_window(graph: Graph, node: Node, attrs: WindowAttrs, kernel: Pair) -> Window:
    """Geometry of a node that convolves with a kernel of the size `kernel`."""
    image, out = image_of(graph, node, node.first), image_of(graph, node, node.output)
    return make_window(image, out, kernel, attrs.strides, attrs.pads, attrs.dilations)


def pooling_window(graph: Graph, node: Node) -> Window:
    """Geometry of a pooling operator, which has no weights."""
    attrs = node.attrs_as(qops.QMaxPool, qops.QAveragePool)
    image, out = image_of(graph, node, node.first), image_of(graph, node, node.output)
    return make_window(image, out, attrs.kernel, attrs.strides, attrs.pads, attrs.dilations)


def is_depthwise(graph: Graph, node: Node) -> bool:
    """A convolution of several groups with one input channel each."""
    channels = graph.shape(plain_inputs(node).x)[3]
    return node.attrs_as(qops.QConv).group == channels > 1


def is_gemm(graph: Graph, node: Node) -> bool:
    """A convolution that is a matrix product of the input as it lies in memory."""
    window = conv_window(graph, node)
    group = node.attrs_as(qops.QConv).group
    return group == 1 and (window.is_pointwise or window.is_whole_image)


def dense_window(graph: Graph, node: Node) -> Window:
    """Geometry of a convolution, or of a matrix product as one over a row of pixels."""
    if isinstance(node.attrs, qops.QGemm):
        *rows, depth = graph.shape(plain_inputs(node).x)
        return row_window(math.prod(rows), depth)
    window = conv_window(graph, node)
    return row_window(1, window.taps * window.channels) if window.is_whole_image else window


def row_window(rows: int, depth: int) -> Window:
    """A matrix product as a pointwise convolution over one row of pixels."""
    return Window(
        height=1,
        width=rows,
        channels=depth,
        out_height=1,
        out_width=rows,
        kernel_h=1,
        kernel_w=1,
        stride_h=1,
        stride_w=1,
        pad_top=0,
        pad_left=0,
        dilation_h=1,
        dilation_w=1,
    )
