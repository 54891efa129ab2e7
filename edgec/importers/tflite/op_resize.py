"""Resizing of images."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from edgec.base.dtypes import Array
from edgec.importers.common.sampling import (
    Positions,
    check_cells,
    emit_resize,
    linear_positions,
    nearest_positions,
)
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.tflite.context import Context
from edgec.importers.tflite.node import TfliteNode
from edgec.importers.tflite.windows import image_sizes
from edgec.ir.ops import ResizeMode

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
