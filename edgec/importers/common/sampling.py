"""Resizing: the source position of every output row and column, found at import."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.importers.common.builder import RealBuilder
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.ir import ops
from edgec.ir.graph import Value
from edgec.ir.ops import ResizeMode

MAX_CELLS = 1 << 16
"""Most rows or columns of an output; their sources are stored one by one."""


@dataclass(frozen=True, slots=True)
class Positions:
    """Sources of one axis, as in `ops.Resize`."""

    low: tuple[int, ...]
    high: tuple[int, ...]
    weights: tuple[float, ...]


def check_cells(out: int) -> None:
    """Refuse an axis that is resized to nothing, or to too much.

    Raises:
        UnsupportedError: it becomes `out` cells.
    """
    if not 1 <= out <= MAX_CELLS:
        raise UnsupportedError(f"the output has {out} rows or columns", "correct the model")


def nearest_positions(cells: Array, size: int) -> Positions:
    """Every output cell is one of `size` input cells; those beyond the image are its edge.

    Args:
        cells: number of the input cell for each output cell, a whole number of any type.
        size: input cells.
    """
    low = tuple(int(cell) for cell in np.clip(cells, 0, size - 1).astype(int))
    return Positions(low, low, (0.0,) * len(low))


def cubic_weight(distance: Array, a: float) -> Array:
    """Weight of a cell at a distance of at most 2, by Keys' cubic convolution; float64.

    Source: R. G. Keys, "Cubic convolution interpolation for digital image processing", 1981.
    """
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, far)


def linear_positions(source: Array, size: int) -> Positions:
    """Every output cell lies between two of `size` input cells, or at the edge of the image.

    Args:
        source: for each output cell where it lies among the input cells, float32.
        size: input cells.
    """
    source = np.clip(source, 0.0, size - 1)
    floor = np.floor(source).astype(int)
    return Positions(
        tuple(int(cell) for cell in floor),
        tuple(int(cell) for cell in np.minimum(floor + 1, size - 1)),
        tuple(float(weight) for weight in source - floor),
    )


def emit_resize(
    ctx: RealBuilder, x: Tensor, mode: ResizeMode, rows: Positions | None, cols: Positions | None
) -> Value:
    """Resize x [N, H, W, C]; None leaves an axis as it is."""
    rows, cols = rows or _unmoved(x.shape[1]), cols or _unmoved(x.shape[2])
    attrs = ops.Resize(mode, rows.low, rows.high, rows.weights, cols.low, cols.high, cols.weights)
    return ctx.emit(attrs, x)


def _unmoved(size: int) -> Positions:
    every = tuple(range(size))
    return Positions(every, every, (0.0,) * size)
