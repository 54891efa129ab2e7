"""Specifications of kernels from nodes of the integer graph, one function per family."""

from __future__ import annotations

import math

from edgec.base.errors import LoweringError
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.ops import ReduceKind
from edgec.ir.shapes import Pads2D, Pair
from edgec.ir.shapes import Window as WindowAttrs
from edgec.lower.layer_end import end_of, requant31_of
from edgec.lower.loops import broadcast_strides, merge_loops, strides_of
from edgec.lower.spec import (
    Add,
    ArgMax,
    AveragePool,
    Concat,
    Conv2D,
    ConvTranspose,
    Depthwise,
    Gemm,
    Loop,
    Lut,
    MaxPool,
    Mul,
    Pad,
    PadAxis,
    PRelu,
    Reduce,
    ResizeLinear,
    ResizeNearest,
    Softmax,
    StridedCopy,
)
from edgec.lower.window import Window


def is_depthwise(graph: Graph, node: Node) -> bool:
    """A convolution of several groups with one input channel each."""
    channels = graph.shape(node.inputs[0])[3]
    group = node.attrs_as(qops.QConv, qops.QConvTranspose, qops.QConv).group
    return group == channels > 1


def is_gemm(graph: Graph, node: Node) -> bool:
    """A convolution that is a matrix product of the input as it lies in memory."""
    window = conv_window(graph, node)
    group = node.attrs_as(qops.QConv, qops.QConv).group
    return group == 1 and (window.is_pointwise or window.is_whole_image)


def gemm_of_conv(graph: Graph, node: Node) -> Gemm:
    """`Gemm` of a pointwise or whole-image convolution."""
    window, end = conv_window(graph, node), end_of(node)
    return Gemm(
        rows=window.out_pixels,
        depth=window.taps * window.channels,
        units=graph.shape(node.inputs[1])[0],
        shift=end.shift,
        residual_shift=end.residual_shift,
        narrow=end.narrow,
    )


def depthwise(graph: Graph, node: Node) -> Depthwise:
    """`Depthwise` of a QConv."""
    window, end = conv_window(graph, node), end_of(node)
    each = graph.shape(node.inputs[1])[0] // window.channels
    return Depthwise(window, each, end.shift, end.residual_shift, narrow=end.narrow)


def conv2d(graph: Graph, node: Node) -> Conv2D:
    """`Conv2D` of a QConv."""
    group, end = node.attrs_as(qops.QConv).group, end_of(node)
    filters = graph.shape(node.inputs[1])[0]
    window = conv_window(graph, node)
    return Conv2D(window, filters, group, end.shift, end.residual_shift, narrow=end.narrow)


def conv_transpose(graph: Graph, node: Node) -> ConvTranspose:
    """`ConvTranspose` of a QConvTranspose."""
    attrs = node.attrs_as(qops.QConvTranspose)
    x, y = _image(graph, node, node.inputs[0]), _image(graph, node, node.output)
    kernel = graph.shape(node.inputs[1])[1:3]
    window = _make_window(y, x, (kernel[0], kernel[1]), attrs.strides, attrs.pads, attrs.dilations)
    return ConvTranspose(window, x[2], attrs.group, requant31_of(node).shift)


def gemm(graph: Graph, node: Node) -> Gemm:
    """`Gemm` of a QGemm."""
    shape = graph.shape(node.inputs[0])
    units, depth = graph.shape(node.inputs[1])
    rows, end = math.prod(shape[:-1]), end_of(node)
    return Gemm(rows, depth, units, end.shift, end.residual_shift, narrow=end.narrow)


def add(graph: Graph, node: Node) -> Add:
    """`Add` of a QAdd."""
    return Add(broadcast_loops(graph, node), node.attrs_as(qops.QAdd).params.shift)


def mul(graph: Graph, node: Node) -> Mul:
    """`Mul` of a QMul."""
    return Mul(broadcast_loops(graph, node), requant31_of(node).shift)


def lut(graph: Graph, node: Node) -> Lut:
    """`Lut` of a QLut."""
    return Lut(math.prod(graph.shape(node.output)))


def prelu(graph: Graph, node: Node) -> PRelu:
    """`PRelu` of a QPRelu."""
    shape = graph.shape(node.output)
    return PRelu(math.prod(shape[:-1]), shape[-1], requant31_of(node).shift)


def softmax(graph: Graph, node: Node) -> Softmax:
    """`Softmax` of a QSoftmax."""
    shape = graph.shape(node.output)
    return Softmax(math.prod(shape[:-1]), shape[-1], node.attrs_as(qops.QSoftmax).shift)


def max_pool(graph: Graph, node: Node) -> MaxPool:
    """`MaxPool` of a QMaxPool."""
    return MaxPool(_pool_window(graph, node))


def average_pool(graph: Graph, node: Node) -> AveragePool:
    """`AveragePool` of a QAveragePool."""
    attrs = node.attrs_as(qops.QAveragePool)
    return AveragePool(_pool_window(graph, node), attrs.count_include_pad, requant31_of(node).shift)


def reduce(graph: Graph, node: Node) -> Reduce:
    """`Reduce` of a QReduce."""
    attrs = node.attrs_as(qops.QReduce)
    shape = graph.shape(node.inputs[0])
    loops = [Loop(n, (s,)) for n, s in zip(shape, strides_of(shape), strict=True)]
    kept = [loop for axis, loop in enumerate(loops) if axis not in attrs.axes]
    reduced = [loop for axis, loop in enumerate(loops) if axis in attrs.axes]
    shift = 1 if attrs.kind is ReduceKind.MAX else requant31_of(node).shift
    return Reduce(attrs.kind, merge_loops(kept), merge_loops(reduced), shift)


def transpose(graph: Graph, node: Node) -> StridedCopy:
    """`StridedCopy` of a QTranspose."""
    shape = graph.shape(node.inputs[0])
    own = strides_of(shape)
    loops = [Loop(shape[axis], (own[axis],)) for axis in node.attrs_as(qops.QTranspose).perm]
    return _strided_copy(graph, node, 0, loops)


def slice_(graph: Graph, node: Node) -> StridedCopy:
    """`StridedCopy` of a QSlice."""
    attrs = node.attrs_as(qops.QSlice)
    own = strides_of(graph.shape(node.inputs[0]))
    start = sum(first * stride for first, stride in zip(attrs.starts, own, strict=True))
    loops = [
        Loop(size, (step * stride,))
        for size, step, stride in zip(attrs.sizes, attrs.steps, own, strict=True)
    ]
    return _strided_copy(graph, node, start, loops)


def concat(graph: Graph, node: Node) -> Concat:
    """`Concat` of a QConcat."""
    axis = node.attrs_as(qops.QConcat).axis
    shapes = [graph.shape(name) for name in node.inputs]
    element = graph.values[node.output].dtype.size_bytes
    return Concat(
        outer=math.prod(shapes[0][:axis]),
        run_bytes=tuple(math.prod(shape[axis:]) * element for shape in shapes),
    )


def pad(graph: Graph, node: Node) -> Pad:
    """`Pad` of a QPad."""
    attrs = node.attrs_as(qops.QPad)
    shape = graph.shape(node.inputs[0])
    padded = [axis for axis, pads in enumerate(attrs.pads) if pads != (0, 0)]
    count = padded[-1] + 1 if padded else 0
    axes = tuple(
        PadAxis(size, before, before + size + after)
        for size, (before, after) in zip(shape[:count], attrs.pads[:count], strict=True)
    )
    # A padding of nothing is a copy in one run.
    return Pad(attrs.mode, axes or (PadAxis(1, 0, 1),), math.prod(shape[count:]), attrs.value)


def resize_nearest(graph: Graph, node: Node) -> ResizeNearest:
    """`ResizeNearest` of a QResizeNearest."""
    _, width, channels = _image(graph, node, node.inputs[0])
    out_height, out_width, _ = _image(graph, node, node.output)
    return ResizeNearest(width, channels, out_height, out_width)


def resize_linear(graph: Graph, node: Node) -> ResizeLinear:
    """`ResizeLinear` of a QResizeLinear."""
    _, width, channels = _image(graph, node, node.inputs[0])
    out_height, out_width, _ = _image(graph, node, node.output)
    return ResizeLinear(width, channels, out_height, out_width)


def arg_max(graph: Graph, node: Node) -> ArgMax:
    """`ArgMax` of a QArgMax."""
    attrs = node.attrs_as(qops.QArgMax)
    shape = graph.shape(node.inputs[0])
    outer, inner = math.prod(shape[: attrs.axis]), math.prod(shape[attrs.axis + 1 :])
    return ArgMax(outer, shape[attrs.axis], inner, attrs.select_last_index)


def _image(graph: Graph, node: Node, name: str) -> tuple[int, int, int]:
    shape = graph.shape(name)
    if len(shape) != 4 or shape[0] != 1:
        raise LoweringError(
            f"an image of shape {shape} reaches the spatial operator {node.op}",
            where=node.name,
            hint="kernels work on one image [1, H, W, C] at a time; export with batch 1",
        )
    return shape[1], shape[2], shape[3]


def _make_window(
    image: tuple[int, int, int],
    out: tuple[int, int, int],
    kernel: Pair,
    strides: Pair,
    pads: Pads2D,
    dilations: Pair,
) -> Window:
    return Window(
        *image, out[0], out[1], *kernel, *strides, pads[0], pads[1], dilations[0], dilations[1]
    )


def conv_window(graph: Graph, node: Node) -> Window:
    """Geometry of a QConv."""
    kernel = graph.shape(node.inputs[1])[1:3]
    attrs = node.attrs_as(qops.QConv, qops.QConv)
    return image_window(graph, node, attrs, (kernel[0], kernel[1]))


def image_window(graph: Graph, node: Node, attrs: WindowAttrs, kernel: Pair) -> Window:
    """Geometry of a node that convolves with a kernel of the size `kernel`."""
    image, out = _image(graph, node, node.inputs[0]), _image(graph, node, node.output)
    return _make_window(image, out, kernel, attrs.strides, attrs.pads, attrs.dilations)


def _pool_window(graph: Graph, node: Node) -> Window:
    attrs = node.attrs_as(qops.QMaxPool, qops.QAveragePool)
    image, out = _image(graph, node, node.inputs[0]), _image(graph, node, node.output)
    return _make_window(image, out, attrs.kernel, attrs.strides, attrs.pads, attrs.dilations)


def broadcast_loops(graph: Graph, node: Node) -> tuple[Loop, ...]:
    """Loops over the output of a function of two tensors, with the strides of both."""
    out_shape = graph.shape(node.output)
    a = broadcast_strides(graph.shape(node.inputs[0]), out_shape)
    b = broadcast_strides(graph.shape(node.inputs[1]), out_shape)
    return merge_loops([Loop(size, (sa, sb)) for size, sa, sb in zip(out_shape, a, b, strict=True)])


def _strided_copy(graph: Graph, node: Node, start: int, loops: list[Loop]) -> StridedCopy:
    element = graph.values[node.output].dtype.size_bytes
    merged = merge_loops(loops)
    run = element
    if merged[-1].strides == (1,):
        run *= merged[-1].size
        merged = merged[:-1]
    scaled = tuple(Loop(loop.size, (loop.strides[0] * element,)) for loop in merged)
    return StridedCopy(start * element, scaled or (Loop(1, (0,)),), run)
