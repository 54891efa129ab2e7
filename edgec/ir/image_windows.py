"""Windows over images [N, H, W, C]: padding, taps one by one, and all taps side by side.

Convolutions are computed in blocks of rows that fit the processor's cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import as_strided

from edgec.base.dtypes import Array
from edgec.ir.shapes import Pads2D, Pair, Window, window_out

_BLOCK_ELEMENTS = 1 << 15
"""Elements of a block, about: what is read and written for it."""
LEAST_PIXELS = 128
"""Output pixels of a block at least: rows of matrices that are worth a product."""


def padded(x: Array, pads: Pads2D, value: float = 0.0) -> Array:
    """Rows and columns of `value` around images [N, H, W, C]."""
    top, left, bottom, right = pads
    if not any(pads):
        return x
    return np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=value)


def taps(
    x: Array, kernel: Pair, strides: Pair, dilations: Pair
) -> Iterator[tuple[Array, tuple[int, int]]]:
    """Input [N, OH, OW, C] of each tap of a window, and the tap's (row, column) in the kernel."""
    height, width = _sizes(x, kernel, strides, dilations)
    for row in range(kernel[0]):
        for col in range(kernel[1]):
            top, left = row * dilations[0], col * dilations[1]
            rows = slice(top, top + (height - 1) * strides[0] + 1, strides[0])
            cols = slice(left, left + (width - 1) * strides[1] + 1, strides[1])
            yield x[:, rows, cols], (row, col)


def gathered(x: Array, kernel: Pair, strides: Pair, dilations: Pair) -> Array:
    """All that each window reads, as [N * OH * OW, KH * KW * C]."""
    size = _sizes(x, kernel, strides, dilations)
    windows = as_strided(
        x,
        (len(x), *size, *kernel, x.shape[3]),
        (
            x.strides[0],
            *(step * place for step, place in zip(strides, x.strides[1:3], strict=True)),
            *(step * place for step, place in zip(dilations, x.strides[1:3], strict=True)),
            x.strides[3],
        ),
        writeable=False,
    )
    return windows.reshape(len(x) * size[0] * size[1], -1)


def _sizes(x: Array, kernel: Pair, strides: Pair, dilations: Pair) -> Pair:
    height, width = (
        window_out(x.shape[axis + 1], kernel[axis], strides[axis], dilations[axis], 0, 0)
        for axis in (0, 1)
    )
    return height, width


@dataclass(frozen=True, slots=True)
class Block:
    """Rows of the output of some samples, those of an operator that slides a window.

    Attributes:
        samples, rows: along the first two axes of the output.
    """

    samples: slice
    rows: slice

    @property
    def place(self) -> tuple[slice, slice]:
        """Its index in the output."""
        return self.samples, self.rows

    def read(
        self,
        x: Array,
        kernel: Pair,
        window: Window,
        factor: Array | None = None,
        dtype: npt.DTypeLike = np.float64,
    ) -> Array:
        """Input of the block with its padding; [n, h, w, C].

        It is a new array where there are padding, a factor, or elements of another type.

        Args:
            x: numbers [N, H, W, C].
            kernel: height and width of the window.
            window: where it is.
            factor: float64 [N, 1, 1, 1], multiplied with the samples.
            dtype: type of floating point of the result.
        """
        top, left, _, right = window.pads
        span = (kernel[0] - 1) * window.dilations[0] + 1
        first = self.rows.start * window.strides[0] - top
        last = (self.rows.stop - 1) * window.strides[0] + span - top
        low = min(max(first, 0), x.shape[1])
        part = x[self.samples, low : max(min(last, x.shape[1]), low)]
        if not any(window.pads):
            if factor is not None:
                return np.asarray(part * factor[self.samples], dtype)
            return part.astype(dtype, copy=False)
        size = (len(part), last - first, x.shape[2] + left + right, x.shape[3])
        image = np.zeros(size, dtype)
        begin = max(low - first, 0)
        inside = image[:, begin : begin + part.shape[1], left : left + x.shape[2]]
        if factor is None:
            inside[...] = part
        else:
            np.multiply(part, factor[self.samples], out=inside)
        return image


def blocks(shape: Sequence[int], cells: int, least: int = LEAST_PIXELS) -> Iterator[Block]:
    """Blocks that an output is computed in.

    Args:
        shape: the shape of the output, [N, OH, OW, ...].
        cells: elements that are read and written for each pixel.
        least: pixels that a block has at least, if the output has as many.
    """
    samples, height, width = shape[:3]
    pixels = max(_BLOCK_ELEMENTS // cells, least)
    rows = min(max(pixels // width, 1), height)
    step = max(pixels // (height * width), 1)
    for start in range(0, samples, step):
        some = slice(start, min(start + step, samples))
        for row in range(0, height, rows):
            yield Block(some, slice(row, min(row + rows, height)))
