"""Resizing: the source position of every output row and column, found at import."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.importers.common.builder import RealBuilder
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.ir import ops
from edgec.ir.graph import Value
from edgec.ir.ops import ResizeMode

MAX_CELLS = 1 << 15
"""Most rows or columns of an output; their sources are stored one by one."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How output positions map to input positions: attributes of a resize."""

    mode: ResizeMode
    coordinates: str
    nearest: str


@dataclass(frozen=True, slots=True)
class Positions:
    """Sources of one axis, as in `ops.Resize`."""

    low: tuple[int, ...]
    high: tuple[int, ...]
    weights: tuple[float, ...]


def emit_resize(
    ctx: RealBuilder, x: Tensor, sampling: Sampling, rows: Positions | None, cols: Positions | None
) -> Value:
    """Resize x [N, H, W, C]; None leaves an axis as it is."""
    rows, cols = rows or _unmoved(x.shape[1]), cols or _unmoved(x.shape[2])
    attrs = ops.Resize(
        sampling.mode, rows.low, rows.high, rows.weights, cols.low, cols.high, cols.weights
    )
    return ctx.emit(attrs, x)


def source_positions(sampling: Sampling, size: int, out: int, scale: float) -> Positions:
    """Source positions along one axis of `size` cells that becomes `out` cells.

    Computed in float32 as onnxruntime does, so that ties fall to the same side.
    Source: ONNX operator documentation of Resize, coordinate_transformation_mode, nearest_mode.
    """
    if not 1 <= out <= MAX_CELLS:
        raise UnsupportedError(f"the output has {out} rows or columns", "correct the model")
    if sampling.coordinates == "align_corners" and not math.isclose(
        size * scale, out, rel_tol=1e-5
    ):
        raise UnsupportedError(
            f"a scale of {scale:g} makes {size * scale:g} of {size} cells, and implementations "
            "differ in where their corners lie",
            "give sizes instead of scales",
        )
    source = _coordinates(sampling.coordinates, size, out, np.float32(scale))
    if sampling.mode is ResizeMode.NEAREST:
        cells = np.clip(_nearest(sampling.nearest, source, scale), 0, size - 1).astype(int)
        low = tuple(int(cell) for cell in cells)
        return Positions(low, low, (0.0,) * out)
    source = np.clip(source, 0.0, size - 1)
    floor = np.floor(source).astype(int)
    return Positions(
        tuple(int(cell) for cell in floor),
        tuple(int(cell) for cell in np.minimum(floor + 1, size - 1)),
        tuple(float(weight) for weight in source - floor),
    )


def _unmoved(size: int) -> Positions:
    every = tuple(range(size))
    return Positions(every, every, (0.0,) * size)


def _coordinates(mode: str, size: int, out: int, scale: np.float32) -> Array:
    """Input coordinates of the centres of the output cells; float32 [out]."""
    index = np.arange(out, dtype=np.float32)
    half = np.float32(0.5)
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
