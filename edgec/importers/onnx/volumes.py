"""Convolutions and pooling in three dimensions, their depth folded into channels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.importers.onnx.windows import Window, WindowAxis, plane_window, read_axes
from edgec.ir import ops
from edgec.ir.graph import Constant, Value

_MOST_WEIGHTS = 1 << 22
"""Most weights of the convolution in two dimensions that one in three becomes."""


def convolved(ctx: Context, node: OnnxNode, x: Value) -> Tensor:
    """A convolution of x [1, C, D, H, W] as one of the image [1, C * D, H, W].

    Each slice of the output is computed from all slices of x, those that its window does not reach
    with weights of 0.

    Raises:
        UnsupportedError: that takes too many weights.
    """
    weight, group = node.real_array(1, "weight"), node.integer("group", 1)
    if weight.ndim != 5 or group < 1 or weight.shape[0] % group:
        raise UnsupportedError("its weight does not fit the input", "correct the model")
    depth, *plane = read_axes(node, x.shape[2:], weight.shape[2:])
    window = plane_window(plane)
    flat = _folded(weight, depth)
    attrs = ops.Conv(window.strides, window.pads, window.dilations, group)
    n, _, _, height, width = x.shape
    slices = ctx.reshape(x, (n, x.shape[1] * x.shape[2], height, width))
    image = ctx.transpose(slices, (0, 2, 3, 1))
    bias = None
    if node.has(2):
        repeated = np.repeat(node.real_array(2, "bias"), depth.out)
        bias = Constant(node.input_name(2), repeated)
    y = ctx.emit(attrs, image, Constant(node.input_name(1), flat.transpose(0, 2, 3, 1)), bias)
    moved = ctx.transpose(y, (0, 3, 1, 2))
    return ctx.reshape(moved, (n, weight.shape[0], depth.out, *moved.shape[2:]))


def _folded(weight: Array, depth: WindowAxis) -> Array:
    """[O, I, KD, KH, KW] as [O * OD, I * D, KH, KW]."""
    o, i, _, height, width = weight.shape
    size = o * depth.out * i * depth.size * height * width
    if size > _MOST_WEIGHTS:
        raise UnsupportedError(
            f"with its depth folded into channels it has {size:,} weights",
            "use convolutions in two dimensions, over slices as channels",
        )
    full = np.zeros((o, depth.out, i, depth.size, height, width), np.float32)
    for position, place, at in depth.taps():
        full[:, position, :, at] = weight[:, :, place]
    return full.reshape(o * depth.out, i * depth.size, height, width)


Pooling = Callable[[Window], Any]
"""The pooling operator of a window in two dimensions."""


def pooled(ctx: Context, x: Value, axes: Sequence[WindowAxis], pooling: Pooling) -> Tensor:
    """Pooling of x [N, C, D, H, W]: along the depth, then in the plane.

    Args:
        ctx: the graph under construction.
        x: what is pooled.
        axes: the window along the depth, the height and the width.
        pooling: an operator for which one after the other is the same as both at once.
    """
    depth, *plane = axes
    n, c, d, height, width = x.shape
    deep = ctx.transpose(ctx.reshape(x, (n, c, d, height * width)), (0, 2, 3, 1))
    # Of the plane, as an axis, nothing is pooled at first.
    flat = WindowAxis(height * width, 1, 1, 1, 0, 0)
    along = ctx.emit(pooling(plane_window((depth, flat))), deep)
    slices = ctx.reshape(ctx.transpose(along, (0, 3, 1, 2)), (n, c * depth.out, height, width))
    image = ctx.transpose(slices, (0, 2, 3, 1))
    moved = ctx.transpose(ctx.emit(pooling(plane_window(plane)), image), (0, 3, 1, 2))
    return ctx.reshape(moved, (n, c, depth.out, *moved.shape[2:]))
