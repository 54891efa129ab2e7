"""Pooling over windows, and reductions over axes.

Resizing of images.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.importers.common import functions
from edgec.importers.common.attributes import normal_axis
from edgec.importers.common.sampling import (
    Positions,
    check_cells,
    emit_resize,
    linear_positions,
    nearest_positions,
)
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.tflite.attributes import fused, image_sizes, read_window
from edgec.importers.tflite.context import Context
from edgec.importers.tflite.node import TfliteNode
from edgec.ir import ops
from edgec.ir.graph import Value
from edgec.ir.ops import ReduceKind, ResizeMode


def max_pool_2d(ctx: Context, node: TfliteNode) -> Tensor:
    """Any window, stride and padding."""
    x, kernel = node.real(0), _kernel(node)
    window = read_window(node, image_sizes(x.shape), kernel)
    return fused(ctx, node, ctx.emit(ops.MaxPool(kernel, window.strides, window.pads), x))


def average_pool_2d(ctx: Context, node: TfliteNode) -> Tensor:
    """Any window, stride and padding, which does not count."""
    x, kernel = node.real(0), _kernel(node)
    window = read_window(node, image_sizes(x.shape), kernel)
    return fused(ctx, node, ctx.emit(ops.AveragePool(kernel, window.strides, window.pads), x))


def _kernel(node: TfliteNode) -> tuple[int, int]:
    return node.integer("FilterHeight"), node.integer("FilterWidth")


def reduce(kind: ReduceKind) -> Callable[[Context, TfliteNode], Tensor]:
    """The handler of a reduction."""

    def handler(ctx: Context, node: TfliteNode) -> Tensor:
        """Constant axes; keep_dims."""
        x = node.real(0)
        axes = node.axes(1, len(x.shape))
        return ctx.emit(ops.Reduce(kind, axes, bool(node.integer("KeepDims"))), x)

    return handler


def cumulative_sum(ctx: Context, node: TfliteNode) -> Tensor:
    """Along a constant axis of 512 elements at most; exclusive, reverse."""
    x, axes = node.real(0), node.whole(1, "axis")
    if len(axes) != 1:
        raise UnsupportedError(f"it has {len(axes)} axes", "use one axis")
    axis = normal_axis(axes[0], len(x.shape))
    exclusive, backward = bool(node.integer("Exclusive")), bool(node.integer("Reverse"))
    name = f"{node.outputs[0]}/ones"
    return functions.cumulative_sum(ctx, x, axis, exclusive, backward, name)


_LEAST_LENGTH = 1e-6
"""Lengths below it count as this much; source: kernels/l2norm.cc of TensorFlow Lite."""


def l2_normalization(ctx: Context, node: TfliteNode) -> Tensor:
    """Along the last axis."""
    x = node.real(0)
    length = ctx.emit(ops.Reduce(ReduceKind.L2, (len(x.shape) - 1,)), x)
    length = ctx.emit(ops.Clip(_LEAST_LENGTH, math.inf), length)
    unit = functions.quotient(ctx, x, length)
    return fused(ctx, node, unit) if isinstance(unit, Value) else unit


def arg_max(ctx: Context, node: TfliteNode) -> Tensor:
    """Any constant axis; indices are int32 on the target."""
    return _arg(ctx, node, smallest=False)


def top_k(ctx: Context, node: TfliteNode) -> tuple[Tensor, ...]:
    """Constant k; values and indices along the last axis, in order."""
    x, numbers = node.real(0), node.whole(1, "k")
    if len(numbers) != 1:
        raise UnsupportedError(f"it has {len(numbers)} numbers k", "use one")
    return functions.top_k(ctx, x, len(x.shape) - 1, numbers[0], largest=True)


def arg_min(ctx: Context, node: TfliteNode) -> Tensor:
    """Any constant axis; indices are int32 on the target."""
    return _arg(ctx, node, smallest=True)


def _arg(ctx: Context, node: TfliteNode, smallest: bool) -> Tensor:
    x, axes = node.real(0), node.whole(1, "axis")
    if len(axes) != 1:
        raise UnsupportedError(f"it has {len(axes)} axes", "use one axis")
    attrs = ops.ArgMax(normal_axis(axes[0], len(x.shape)), keepdims=False, smallest=smallest)
    return ctx.emit(attrs, x, dtype=DType.INT32)


_HALF = np.float32(0.5)


def resize_bilinear(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant size; align_corners, half_pixel_centers."""
    return _resize(ctx, node, ResizeMode.LINEAR, _linear)


def resize_nearest_neighbor(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant size; align_corners, half_pixel_centers."""
    return _resize(ctx, node, ResizeMode.NEAREST, _nearest)


def _resize(
    ctx: Context,
    node: TfliteNode,
    mode: ResizeMode,
    positions: Callable[[TfliteNode, int, int], Positions],
) -> Tensor:
    x, wanted = node.real(0), node.whole(1, "size")
    if len(wanted) != 2:
        raise UnsupportedError(f"its size is {list(wanted)}", "give height and width")
    for out in wanted:
        check_cells(out)
    rows, columns = (
        positions(node, size, out) for size, out in zip(image_sizes(x.shape), wanted, strict=True)
    )
    return emit_resize(ctx, x, mode, rows, columns)


def _linear(node: TfliteNode, size: int, out: int) -> Positions:
    """Source: ComputeInterpolationValues of TensorFlow Lite (reference/resize_bilinear.h)."""
    index, scale = _steps(node, size, out)
    if node.integer("HalfPixelCenters"):
        return linear_positions((index + _HALF) * scale - _HALF, size)
    return linear_positions(index * scale, size)


def _nearest(node: TfliteNode, size: int, out: int) -> Positions:
    """Source: GetNearestNeighbor of TensorFlow Lite (reference/resize_nearest_neighbor.h)."""
    index, scale = _steps(node, size, out)
    source = (index + _HALF) * scale if node.integer("HalfPixelCenters") else index * scale
    # Halves are rounded away from zero.
    cells = np.floor(source + _HALF) if node.integer("AlignCorners") else np.floor(source)
    return nearest_positions(cells, size)


def _steps(node: TfliteNode, size: int, out: int) -> tuple[Array, np.float32]:
    """Numbers of the output cells, and input cells for each of them; float32."""
    index = np.arange(out, dtype=np.float32)
    if node.integer("AlignCorners") and out > 1:
        return index, np.float32(size - 1) / np.float32(out - 1)
    return index, np.float32(size) / np.float32(out)
