"""Pooling over windows and over the whole image."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx import volumes
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.importers.onnx.windows import (
    WindowAxis,
    from_nhwc,
    plane_window,
    read_axes,
    spatial_sizes,
    to_nhwc,
)
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.ops import ReduceKind, UnaryKind


def max_pool(ctx: Context, node: OnnxNode) -> Tensor:
    """1-D to 3-D; dilations, ceil_mode, auto_pad; no Indices output."""
    if node.is_used(1):
        raise UnsupportedError("its Indices output is used", "avoid max-unpooling")
    return _pooled(
        ctx, node.data_value(0), _axes(node, node.data_value(0)),
        lambda window: ops.MaxPool(window.kernel, window.strides, window.pads, window.dilations),
    )  # fmt: skip


def average_pool(ctx: Context, node: OnnxNode) -> Tensor:
    """1-D to 3-D; ceil_mode with count_include_pad only where no window leaves the padding."""
    x = node.real_value(0)
    axes = _axes(node, x)
    include = node.flag("count_include_pad", False) and any(a.begin or a.end for a in axes)
    if include and any(axis.overhang for axis in axes):
        if any(axis.begin or axis.end - axis.overhang for axis in axes):
            raise UnsupportedError(
                "ceil_mode with count_include_pad and padding gives windows of their own divisors",
                "set ceil_mode or count_include_pad to 0",
            )
        # Without padding nothing but the image is counted.
        include = False
    return _pooled(
        ctx, x, axes,
        lambda window: ops.AveragePool(
            window.kernel, window.strides, window.pads, window.dilations, include
        ),
    )  # fmt: skip


def lp_pool(ctx: Context, node: OnnxNode) -> Tensor:
    """1-D to 3-D; any p; without ceil_mode."""
    x, p = node.real_value(0), node.integer("p", 2)
    if p < 1:
        raise UnsupportedError(f"its p is {p}", "use p = 1 or p = 2")
    axes = _axes(node, x)
    if any(axis.overhang for axis in axes):
        raise UnsupportedError("its windows leave the image (ceil_mode)", "set ceil_mode to 0")
    size: Value = x
    if p % 2:
        size = ctx.emit(ops.Unary(UnaryKind.ABS), size)
    if p > 1:
        size = ctx.emit(ops.Unary(UnaryKind.POW, alpha=float(p)), size)
    mean = _pooled(
        ctx, size, axes,
        lambda window: ops.AveragePool(
            window.kernel, window.strides, window.pads, window.dilations, True
        ),
    )  # fmt: skip
    count = math.prod(axis.kernel for axis in axes)
    taps = Constant(f"{node.outputs[0]}/taps", np.asarray(count, np.float32))
    total = ctx.emit(ops.Mul(), mean, taps)
    if p == 1:
        return total
    root = ops.Unary(UnaryKind.SQRT) if p == 2 else ops.Unary(UnaryKind.POW, alpha=1.0 / p)
    return ctx.emit(root, total)


def global_lp_pool(ctx: Context, node: OnnxNode) -> Tensor:
    """Any number of spatial dimensions; p = 1 and p = 2."""
    kind = {1: ReduceKind.L1, 2: ReduceKind.L2}.get(node.integer("p", 2))
    if kind is None:
        raise UnsupportedError(f"its p is {node.integer('p', 2)}", "use p = 1 or p = 2")
    return _global(ctx, kind, node.real_value(0))


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


def _pooled(ctx: Context, x: Value, axes: Sequence[WindowAxis], pooling: volumes.Pooling) -> Tensor:
    """X [N, C, ...] pooled by windows in one, two or three dimensions."""
    if len(axes) == 3:
        return volumes.pooled(ctx, x, axes, pooling)
    y = ctx.emit(pooling(plane_window(axes)), to_nhwc(ctx, x))
    return from_nhwc(ctx, y, len(x.shape))


def _axes(node: OnnxNode, x: Value) -> tuple[WindowAxis, ...]:
    sizes = x.shape[2:] if len(x.shape) == 5 else spatial_sizes(x)
    axes = read_axes(node, sizes, node.integers("kernel_shape") or ())
    if any(pad >= axis.span for axis in axes for pad in (axis.begin, axis.end)):
        raise UnsupportedError(
            "a window can lie in the padding altogether", "use padding smaller than the kernel"
        )
    return axes
