"""Images sampled at positions that are known at compile time, as weights of their pixels.

An image of any number of dimensions is sampled along each of them: a position reads a few cells of
each axis, each with a weight, and its sample is the sum over all their combinations.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from functools import reduce

import numpy as np

from edgec.base.dtypes import Array
from edgec.importers.common.builder import RealBuilder
from edgec.importers.common.functions import resampled
from edgec.importers.common.gathered import pick
from edgec.importers.common.sampling import check_cells, cubic_weight
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.ir import ops
from edgec.ir.graph import Constant

_MOST_DENSE = 1 << 16
"""Pixels times samples up to which all weights are stored, zeros too, and multiplied as a matrix:
one product rounds once, where sums of samples round each."""
_CUBIC = -0.75
"""Source: ONNX operator documentation of GridSample; Keys' coefficient as PyTorch takes it."""


class Interpolation(enum.Enum):
    """Interpolation of a sample between pixels."""

    NEAREST = "nearest"
    LINEAR = "linear"
    CUBIC = "cubic"


class Outside(enum.Enum):
    """Padding of positions outside the image, by ONNX name."""

    ZEROS = "zeros"
    BORDER = "border"
    REFLECTION = "reflection"


@dataclass(frozen=True, slots=True)
class Sampler:
    """Sampling of an image: interpolation, padding, and the grid's extent.

    Attributes:
        mode: how a sample is made of cells.
        outside: what lies beyond the image.
        align_corners: -1 and 1 are the centres of the outermost cells, not their outer edges.
    """

    mode: Interpolation
    outside: Outside
    align_corners: bool

    def taps(self, grid: Array, size: int) -> tuple[Array, Array]:
        """The cells along one axis that positions read, and their weights.

        Args:
            grid: float64 [P], -1 at one end of the axis and 1 at the other.
            size: cells.

        Returns:
            Cells int64 [P, taps] and weights float64 [P, taps], 0 for cells beyond the image.
        """
        # In float32, as others do: so halves fall to the same side.
        where: Array = grid.astype(np.float32)
        one, two = np.float32(1), np.float32(2)
        if self.align_corners:
            place = (where + one) / two * np.float32(size - 1)
        else:
            place = ((where + one) * np.float32(size) - one) / two
        place = place.astype(np.float64)
        if self.mode is Interpolation.NEAREST:
            cells, weights = np.rint(place)[:, None], np.ones((len(place), 1))
        else:
            self._refuse_ambiguous(place, size)
            place = self._inside(place, size)
            reach = (0, 1) if self.mode is Interpolation.LINEAR else (-1, 0, 1, 2)
            cells = np.floor(place)[:, None] + reach
            distance = np.abs(place[:, None] - cells)
            linear = self.mode is Interpolation.LINEAR
            weights = 1.0 - distance if linear else cubic_weight(distance, _CUBIC)
        if self.outside is Outside.ZEROS:
            weights = np.where((cells >= 0) & (cells < size), weights, 0.0)
        cells = np.clip(np.floor(self._inside(cells, size)), 0, size - 1)
        return cells.astype(np.int64), weights

    def _refuse_ambiguous(self, place: Array, size: int) -> None:
        edge = 0.0 if self.align_corners else -0.5
        beyond = ((place < edge) | (place > size - 1.0 - edge)).any()
        if beyond and self.mode is Interpolation.CUBIC and self.outside is Outside.BORDER:
            # ONNX's reference moves the position to the border, onnxruntime the cells around it.
            raise UnsupportedError(
                "it samples beyond the border with cubic weights, where implementations differ",
                "use padding_mode zeros or reflection",
            )

    def _inside(self, place: Array, size: int) -> Array:
        """Places beyond the image brought into it, as far as `outside` does that."""
        low, high = (0.0, size - 1.0) if self.align_corners else (-0.5, size - 0.5)
        beyond = (place < low) | (place > high)
        match self.outside:
            case Outside.ZEROS:
                return place
            case Outside.BORDER:
                return np.where(beyond, np.clip(place, 0.0, size - 1.0), place)
            case Outside.REFLECTION:
                span = high - low
                if span == 0.0:
                    return np.full_like(place, low)
                period = np.mod(place - low, 2.0 * span)
                return np.where(beyond, low + np.minimum(period, 2.0 * span - period), place)


def sampled(ctx: RealBuilder, x: Tensor, grid: Array, sampler: Sampler, name: str) -> Tensor:
    """X [N, C, *size] sampled at positions.

    Args:
        ctx: the graph under construction.
        x: float32.
        grid: float32 [*out, axes], the last axis of x first; the same for all samples.
        sampler: how.
        name: what names of constants begin with.

    Returns:
        [N, C, *out].

    Raises:
        UnsupportedError: it takes too many weights.
    """
    size = x.shape[2:]
    places = grid.reshape(-1, len(size)).astype(np.float64)
    pixels, samples = math.prod(size), len(places)
    dense = samples * pixels <= _MOST_DENSE
    if not dense:
        check_cells(samples)
    axes = [sampler.taps(places[:, -1 - axis], n) for axis, n in enumerate(size)]
    cells, weights = reduce(_crossed, zip(axes, size, strict=True), _START)
    flat = ctx.reshape(x, (*x.shape[:2], pixels))
    if dense:
        matrix = np.zeros((samples, pixels))
        np.add.at(matrix, (np.arange(samples)[:, None], cells), weights)
        y = resampled(ctx, flat, 2, matrix, f"{name}/weights")
    else:
        y = _summed(ctx, flat, cells, weights, name)
    return ctx.reshape(y, (*x.shape[:2], *grid.shape[:-1]))


_Taps = tuple[Array, Array]
_START: _Taps = (np.zeros((1, 1), np.int64), np.ones((1, 1)))


def _crossed(found: _Taps, axis: tuple[_Taps, int]) -> _Taps:
    """Taps of the axes before and of one more; cells counted over all of them."""
    (cells, weights), size = axis
    every = found[0][:, :, None] * size + cells[:, None, :]
    shares = found[1][:, :, None] * weights[:, None, :]
    return every.reshape(len(cells), -1), shares.reshape(len(cells), -1)


def _summed(ctx: RealBuilder, x: Tensor, cells: Array, weights: Array, name: str) -> Tensor:
    """The sum of the cells of each tap times their weights, a copy of cells for each tap."""
    total: Tensor | None = None
    for tap in range(cells.shape[1]):
        if not weights[:, tap].any():
            continue
        part = pick(ctx, x, 2, cells[:, tap])
        if (weights[:, tap] != 1.0).any():
            share = Constant(f"{name}/weights{tap}", weights[:, tap].astype(np.float32))
            part = ctx.emit(ops.Mul(), part, share)
        total = part if total is None else ctx.emit(ops.Add(), total, part)
    if total is None:
        raise UnsupportedError("all its positions lie beyond the image", "correct the model")
    return total


def affine_grid(
    ctx: RealBuilder, theta: Tensor, size: tuple[int, ...], align_corners: bool, name: str
) -> Tensor:
    """Positions of all pixels of an image under affine maps, as a product of matrices.

    Args:
        ctx: the graph under construction.
        theta: float32 [N, axes, axes + 1].
        size: cells along each axis of the image.
        align_corners: as of `Sampler`.
        name: what names of constants begin with.

    Returns:
        [N, *size, axes], the last axis of the image first.
    """
    axes = [_centres(n, align_corners) for n in size]
    corners = np.stack([*reversed(np.meshgrid(*axes, indexing="ij")), np.ones(size)], axis=-1)
    base = Constant(f"{name}/base", corners.reshape(-1, len(size) + 1).astype(np.float32))
    # [N, axes, pixels]
    y = ctx.emit(ops.Gemm(), theta, base, None)
    return ctx.reshape(ctx.transpose(y, (0, 2, 1)), (theta.shape[0], *size, len(size)))


def _centres(count: int, align_corners: bool) -> Array:
    """Positions of the pixel centres of an axis between -1 and 1."""
    if not align_corners:
        return (2.0 * np.arange(count) + 1.0) / count - 1.0
    return np.linspace(-1.0, 1.0, count)
