"""Resize and Upsample: the source position of every output row and column, found at import.

Images sampled at the positions of a grid, and grids of affine maps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.limits import MAX_ACTIVATION_ELEMENTS
from edgec.importers.common.attributes import normal_axis
from edgec.importers.common.functions import resampled
from edgec.importers.common.grids import Interpolation, Outside, Sampler, affine_grid, sampled
from edgec.importers.common.sampling import (
    Positions,
    check_cells,
    cubic_weight,
    emit_resize,
    linear_positions,
    nearest_positions,
)
from edgec.importers.common.tensors import Tensor, UnsupportedError, require_real
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.importers.onnx.windows import from_nhwc, to_nhwc
from edgec.ir.graph import Constant
from edgec.ir.ops import ResizeMode


@dataclass(frozen=True, slots=True)
class _Sampling:
    """Map from output positions to input positions: attributes of Resize."""

    mode: ResizeMode
    coordinates: str
    nearest: str


def resize(ctx: Context, node: OnnxNode) -> Tensor:
    """Nearest and linear of height and width; cubic; all coordinates but tf_crop_and_resize."""
    x = node.data_value(0)
    scales, sizes = _scales_and_sizes(node, x.shape)
    moving = [axis for axis, scale in enumerate(scales) if scale != 1.0]
    if node.text("mode", "nearest") == "cubic":
        y: Tensor = require_real(x)
        for axis in moving:
            weights = _cubic_weights(node, x.shape[axis], sizes[axis], scales[axis])
            y = resampled(ctx, y, axis, weights, f"{node.outputs[0]}/cubic{axis}")
        return y
    sampling = _sampling(node)
    if sampling.mode is ResizeMode.LINEAR:
        require_real(x)
    if not moving:
        return x
    positions = {a: _positions(sampling, x.shape[a], sizes[a], scales[a]) for a in moving}
    rank = len(x.shape)
    if rank in (3, 4) and min(moving) >= 2:
        # The last two axes are height and width; in one dimension the height is 1.
        rows = positions.get(2) if rank == 4 else None
        y = emit_resize(ctx, to_nhwc(ctx, x), sampling.mode, rows, positions.get(rank - 1))
        return from_nhwc(ctx, y, rank)
    if rank == 4 and set(moving) <= {1, 2}:
        return emit_resize(ctx, x, sampling.mode, positions.get(1), positions.get(2))
    raise UnsupportedError(
        f"it resizes axes {moving} of {rank}", "resize only the height and width of an image"
    )


def _sampling(node: OnnxNode) -> _Sampling:
    modes = {"nearest": ResizeMode.NEAREST, "linear": ResizeMode.LINEAR}
    mode = modes.get(node.text("mode", "nearest"))
    if mode is None:
        raise UnsupportedError(
            f"mode {node.text('mode', '')!r} is not nearest, linear or cubic", "use one of these"
        )
    if node.op == "Upsample" or node.opset < 11:
        return _Sampling(mode, "asymmetric", "simple")
    _check_plain(node)
    coordinates = node.text("coordinate_transformation_mode", "half_pixel")
    return _Sampling(mode, coordinates, node.text("nearest_mode", "round_prefer_floor"))


def _check_plain(node: OnnxNode) -> None:
    if node.flag("antialias", False):
        raise UnsupportedError("it filters (antialias)", "set antialias to 0")
    if node.text("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise UnsupportedError("it keeps the aspect ratio", "give the final sizes")


def _cubic_weights(node: OnnxNode, size: int, out: int, scale: float) -> Array:
    """Weight of each input cell in each output cell along an axis; float64 [out, size].

    Source: ONNX operator documentation of Resize: cubic_coeff_a, exclude_outside.
    """
    _check_plain(node)
    mode = node.text("coordinate_transformation_mode", "half_pixel")
    source = _coordinates(mode, size, out, scale).astype(np.float64)
    a, first = node.number("cubic_coeff_a", -0.75), np.floor(source)
    weights = np.zeros((out, size))
    for tap in range(-1, 3):
        distance = np.abs(source - (first + tap))
        weight = cubic_weight(distance, a)
        place = (first + tap).astype(int)
        if node.flag("exclude_outside", False):
            weight = np.where((place >= 0) & (place < size), weight, 0.0)
        np.add.at(weights, (np.arange(out), np.clip(place, 0, size - 1)), weight)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _scales_and_sizes(node: OnnxNode, shape: tuple[int, ...]) -> tuple[list[float], list[int]]:
    """Scale and output size of every axis, from whichever of the two the model gives."""
    rank = len(shape)
    axes = [normal_axis(a, rank) for a in node.integers("axes") or range(rank)]
    scales, sizes = [1.0] * rank, list(shape)
    if node.op != "Upsample" and node.opset >= 11 and node.has(3):
        for axis, size in zip(axes, _complete(node.ints_input(3, "sizes"), axes), strict=True):
            sizes[axis] = int(size)
            scales[axis] = float(np.float32(size) / np.float32(shape[axis]))
        return scales, sizes
    index = 2 if node.op != "Upsample" and node.opset >= 11 else 1
    found = node.numbers("scales")
    if found is None:
        found = tuple(float(s) for s in node.real_array(index, "scales").reshape(-1))
    for axis, scale in zip(axes, _complete(found, axes), strict=True):
        if not (math.isfinite(scale) and 0.0 < scale <= 2.0**20):
            raise UnsupportedError(f"scale {scale} is impossible", "correct the model")
        scales[axis] = scale
        sizes[axis] = math.floor(shape[axis] * scale)
    return scales, sizes


def _complete(values: tuple[float, ...], axes: list[int]) -> tuple[float, ...]:
    if len(values) != len(axes) or min(values, default=1.0) <= 0:
        raise UnsupportedError(f"{list(values)} does not fit {len(axes)} axes", "correct the model")
    return values


def _positions(sampling: _Sampling, size: int, out: int, scale: float) -> Positions:
    """Source positions along one axis of `size` cells that becomes `out` cells.

    Computed in float32 as onnxruntime does, so that ties fall to the same side.
    Source: ONNX operator documentation of Resize, coordinate_transformation_mode, nearest_mode.
    """
    source = _coordinates(sampling.coordinates, size, out, scale)
    if sampling.mode is ResizeMode.NEAREST:
        return nearest_positions(_nearest(sampling.nearest, source, scale), size)
    return linear_positions(source, size)


def _coordinates(mode: str, size: int, out: int, exact_scale: float) -> Array:
    """Input coordinates of the centres of the output cells; float32 [out]."""
    check_cells(out)
    if mode == "align_corners" and not math.isclose(size * exact_scale, out, rel_tol=1e-5):
        raise UnsupportedError(
            f"a scale of {exact_scale:g} makes {size * exact_scale:g} of {size} cells, and "
            "implementations differ in where their corners lie",
            "give sizes instead of scales",
        )
    index = np.arange(out, dtype=np.float32)
    scale, half = np.float32(exact_scale), np.float32(0.5)
    match mode:
        case "asymmetric":
            return index / scale
        case "align_corners":
            if out == 1:
                return np.zeros(1, np.float32)
            return index * np.float32(size - 1) / np.float32(out - 1)
        case "pytorch_half_pixel" if out == 1:
            return np.zeros(1, np.float32)
        case "half_pixel" | "pytorch_half_pixel":
            return (index + half) / scale - half
        case "half_pixel_symmetric":
            adjustment = np.float32(out) / (scale * np.float32(size))
            offset = np.float32(size) / 2 * (1 - adjustment)
            return offset + (index + half) / scale - half
        case _:
            raise UnsupportedError(f"coordinates are {mode!r}", "use half_pixel coordinates")


def _nearest(mode: str, source: Array, scale: float) -> Array:
    match mode:
        case "simple":
            # Before opset 11: truncation, and the next cell when the image shrinks.
            return np.ceil(source) if scale < 1.0 else np.floor(source)
        case "floor":
            return np.floor(source)
        case "ceil":
            return np.ceil(source)
        case "round_prefer_floor":
            return np.ceil(source - np.float32(0.5))
        case "round_prefer_ceil":
            return np.floor(source + np.float32(0.5))
        case _:
            raise UnsupportedError(f"unknown nearest_mode {mode!r}", "use floor")


_MODES = {
    "nearest": Interpolation.NEAREST,
    # Of images until opset 19, of any dimensions from opset 20 on.
    "bilinear": Interpolation.LINEAR,
    "linear": Interpolation.LINEAR,
    "bicubic": Interpolation.CUBIC,
    "cubic": Interpolation.CUBIC,
}
_OUTSIDE = {each.value: each for each in Outside}


def grid_sample(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant positions; all modes, any number of dimensions."""
    x = node.real_value(0)
    if isinstance(node.tensor(1), Constant):
        grid = node.real_array(1, "grid")
    else:
        raise UnsupportedError(
            "it reads at positions that are computed at run time",
            "use Resize, Slice or Gather with constant positions, or end the network before it",
        )
    mode = _MODES.get(node.text("mode", "bilinear"))
    outside = _OUTSIDE.get(node.text("padding_mode", "zeros"))
    if mode is None or outside is None:
        raise UnsupportedError("its mode or padding_mode is unknown", "correct the model")
    rank = len(x.shape)
    fits = grid.ndim == rank and grid.shape[0] == x.shape[0] and grid.size
    if rank < 3 or not fits or grid.shape[-1] != rank - 2:
        raise UnsupportedError(
            f"its grid {list(grid.shape)} does not fit {list(x.shape)}", "correct the model"
        )
    if not np.isfinite(grid).all() or not (grid == grid[:1]).all():
        raise UnsupportedError("its grid differs from sample to sample", "give one for all samples")
    sampler = Sampler(mode, outside, node.flag("align_corners", False))
    return sampled(ctx, x, grid[0], sampler, node.outputs[0])


def grid_of_maps(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant size."""
    theta, size = node.real_value(0), node.ints_input(1, "size")
    axes = len(size) - 2
    if axes not in (2, 3) or theta.shape != (size[0], axes, axes + 1) or min(size) < 1:
        raise UnsupportedError(
            f"its size {list(size)} does not fit {list(theta.shape)}", "correct the model"
        )
    if math.prod(size) > MAX_ACTIVATION_ELEMENTS:
        raise UnsupportedError("its grid is too large", "correct the model")
    return affine_grid(ctx, theta, size[2:], node.flag("align_corners", False), node.outputs[0])
