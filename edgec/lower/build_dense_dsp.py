"""Specifications of the dense DSP kernel from nodes of the integer graph, and where it serves."""

from __future__ import annotations

import math

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.lower.build import conv_window
from edgec.lower.layer_end import end_of
from edgec.lower.spec_dense_dsp import DenseDsp
from edgec.lower.window import Window
from edgec.target.target import Target


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A convolution of one group, or a product of several rows, on a core with the DSP extension.

    A single row would leave two pixels of three idle, and gain nothing from widening in advance.
    Windows that are too large when widened are left to the plain kernel, which gathers bytes.
    """
    if not target.has_dsp or getattr(node.attrs, "group", 1) != 1:
        return False
    spec = dense_dsp(graph, node)
    return spec.window.out_pixels > 1 and spec.scratch_bytes <= target.scratch_limit_bytes


def dense_dsp(graph: Graph, node: Node) -> DenseDsp:
    """`DenseDsp` of a convolution of one group or of a matrix product, in either arithmetic."""
    filters, end = graph.shape(node.inputs[1])[0], end_of(node)
    window = dense_window(graph, node)
    return DenseDsp(window, filters, end.shift, end.residual_shift, narrow=end.narrow)


def dense_window(graph: Graph, node: Node) -> Window:
    """Geometry of a convolution, or of a matrix product as one over a row of pixels."""
    if isinstance(node.attrs, qops.QGemm):
        *rows, depth = graph.shape(node.inputs[0])
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
