"""Images and windows of the nodes of a graph."""

from __future__ import annotations

import math

from edgec.base.errors import LoweringError
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.shapes import Pads2D, Pair
from edgec.ir.shapes import Window as WindowAttrs
from edgec.ir.weighted import plain_inputs
from edgec.kernels.common.window import Window


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
    attrs = node.attrs_as(qops.QMaxPool, qops.QAveragePool, qops.QAverageCodes)
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
        return _row_window(math.prod(rows), depth)
    window = conv_window(graph, node)
    return _row_window(1, window.taps * window.channels) if window.is_whole_image else window


def _row_window(rows: int, depth: int) -> Window:
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
