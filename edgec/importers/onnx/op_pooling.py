"""Pooling over windows and over the whole image."""

from __future__ import annotations

from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.node import OnnxNode
from edgec.importers.onnx.windows import (
    Window,
    from_nhwc,
    read_window,
    spatial_sizes,
    to_nhwc,
)
from edgec.ir import ops
from edgec.ir.ops import ReduceKind


def max_pool(ctx: Context, node: OnnxNode) -> Tensor:
    """1-D and 2-D; dilations, ceil_mode, auto_pad; no Indices output."""
    if node.is_used(1):
        raise UnsupportedError("its Indices output is used", "avoid max-unpooling")
    x = node.data_value(0)
    window = _pool_window(node, x)
    attrs = ops.MaxPool(window.kernel, window.strides, window.pads, window.dilations)
    return from_nhwc(ctx, ctx.emit(attrs, to_nhwc(ctx, x)), len(x.shape))


def average_pool(ctx: Context, node: OnnxNode) -> Tensor:
    """1-D and 2-D; ceil_mode with count_include_pad only where no window leaves the padding."""
    x = node.real_value(0)
    window = _pool_window(node, x)
    include = node.flag("count_include_pad", False) and any(window.pads)
    if include and any(window.overhang):
        top, left, bottom, right = window.pads
        rows, columns = window.overhang
        if any((top, left, bottom - rows, right - columns)):
            raise UnsupportedError(
                "ceil_mode with count_include_pad and padding gives windows of their own divisors",
                "set ceil_mode or count_include_pad to 0",
            )
        # Without padding nothing but the image is counted.
        include = False
    attrs = ops.AveragePool(window.kernel, window.strides, window.pads, window.dilations, include)
    return from_nhwc(ctx, ctx.emit(attrs, to_nhwc(ctx, x)), len(x.shape))


def global_average_pool(ctx: Context, node: OnnxNode) -> Tensor:
    """Any number of spatial dimensions."""
    return _global(ctx, ReduceKind.MEAN, node.real_value(0))


def global_max_pool(ctx: Context, node: OnnxNode) -> Tensor:
    """Any number of spatial dimensions."""
    return _global(ctx, ReduceKind.MAX, node.data_value(0))


def _global(ctx: Context, kind: ReduceKind, x: Tensor) -> Tensor:
    rank = len(x.shape)
    if rank < 3:
        raise UnsupportedError("the input has no spatial dimensions", "leave the node out")
    moved = ctx.axis_last(x, 1)
    y = ctx.emit(ops.Reduce(kind, tuple(range(1, rank - 1)), keepdims=True), moved)
    return ctx.axis_back(y, 1)


def _pool_window(node: OnnxNode, x: Tensor) -> Window:
    window = read_window(node, spatial_sizes(x), node.integers("kernel_shape") or ())
    spans = [(k - 1) * d + 1 for k, d in zip(window.kernel, window.dilations, strict=True)]
    if any(pad >= span for pad, span in zip(window.pads, spans * 2, strict=True)):
        raise UnsupportedError(
            "a window can lie in the padding altogether", "use padding smaller than the kernel"
        )
    return window
