"""Windows over images [N, H, W, C]: padding, taps one by one, and all taps side by side."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.lib.stride_tricks import as_strided

from edgec.base.dtypes import Array
from edgec.ir.shapes import Pads2D, Pair, window_out


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
