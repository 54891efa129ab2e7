"""The sums of convolutions in numpy, and the positions of windows.

Sums are taken in float64 matrix products, which are exact: every partial sum is a whole number far
below 2^53.  A convolution is computed in float32 where its weights prove that none exceeds 2^24.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.image_windows import blocks, gathered, taps
from edgec.ir.shapes import GroupedWindow, Pair, TransposedWindow, Window, window_shape


def conv_sums(window: GroupedWindow, x: Array, weight: Array) -> Array:
    """The sums of products of a convolution; float64 [N, OH, OW, O], whole numbers.

    Args:
        window: strides, pads, dilations and group.
        x: whole numbers [N, H, W, I] whose zeros contribute nothing.
        weight: whole numbers [O, KH, KW, I/group].
    """
    outputs, *sides, depth = weight.shape
    kernel, group = (sides[0], sides[1]), window.group
    size = window_shape(x.shape[1], x.shape[2], kernel, window)
    total = np.empty((x.shape[0], *size, outputs))
    dtype = _exact_type(x, weight)
    each, terms = outputs // group, kernel[0] * kernel[1] * depth
    # Columns [group, KH * KW * I/group, O/group].
    columns = weight.reshape(group, each, terms).astype(dtype).swapaxes(-1, -2)
    if depth == 1 and each == 1:
        _depthwise(x, columns[..., 0], kernel, window, total)
        return total
    for block in blocks(total.shape, group * terms + outputs):
        image = block.read(x, kernel, window, dtype=dtype)
        made = total[block.place]
        for number in range(group):
            read = image[..., number * depth : (number + 1) * depth]
            rows = gathered(read, kernel, window.strides, window.dilations)
            made[..., number * each : (number + 1) * each] = np.matmul(
                rows, columns[number]
            ).reshape(*made.shape[:3], each)
    return total


def _depthwise(x: Array, filters: Array, kernel: Pair, window: Window, total: Array) -> None:
    """Write each channel's sums, by its own filter of [C, KH * KW], to total [N, OH, OW, C]."""
    # A row of pixels takes one loop.
    rows = np.repeat(filters.T[:, None], total.shape[2], axis=1)
    for block in blocks(total.shape, 2 * len(filters)):
        made = total[block.place]
        sums = np.zeros(made.shape, filters.dtype)
        product = np.empty_like(sums)
        image = block.read(x, kernel, window, dtype=filters.dtype)
        for part, (row, column) in taps(image, kernel, window.strides, window.dilations):
            sums += np.multiply(part, rows[row * kernel[1] + column], out=product)
        made[...] = sums


_EXACT = 1 << 24
"""Whole numbers up to this magnitude have no rounding in float32."""


def _exact_type(x: Array, weight: Array) -> np.dtype:
    """The type of floating point that holds every partial sum of a convolution exactly.

    No partial sum exceeds the largest magnitude of x times a filter's sum of magnitudes.
    """
    reach = max(int(x.max(initial=0)), -int(x.min(initial=0)))
    most = int(np.abs(weight, dtype=np.float64).reshape(len(weight), -1).sum(axis=1).max(initial=0))
    return np.dtype(np.float32 if reach * most <= _EXACT else np.float64)


def conv_transpose_sums(window: TransposedWindow, x: Array, weight: Array) -> Array:
    """The sums of products of a transposed convolution; as `conv_sums`."""
    n, *size = x.shape[:3]
    reach = [
        (size[i] - 1) * window.strides[i]
        + (weight.shape[1 + i] - 1) * window.dilations[i]
        + 1
        + window.output_padding[i]
        for i in (0, 1)
    ]
    total = np.zeros((n, *reach, weight.shape[0]))
    for (ky, kx), offset in _taps(weight.shape, window.dilations):
        product = _channel_product(x, weight[:, ky, kx, :], window.group)
        total[:, *_every(offset, window.strides, (size[0], size[1])), :] += product
    top, left, bottom, right = window.pads
    return total[:, top : reach[0] - bottom, left : reach[1] - right, :]


def padded_image(window: Window, x: Array, outside: int) -> Array:
    """X [N, H, W, C] with the rows and columns around it, which hold `outside`."""
    top, left, bottom, right = window.pads
    border = ((0, 0), (top, bottom), (left, right), (0, 0))
    return np.pad(x, border, constant_values=outside)


def window_taps(window: Window, kernel: Pair, padded: Array) -> Iterator[Array]:
    """For each tap, what it reads at every position of the window: [N, OH, OW, C]."""
    (kh, kw), (sh, sw), (dh, dw) = kernel, window.strides, window.dilations
    reach_h, reach_w = (kh - 1) * dh, (kw - 1) * dw
    for ky, kx in np.ndindex(kh, kw):
        rows = slice(ky * dh, padded.shape[1] - reach_h + ky * dh, sh)
        cols = slice(kx * dw, padded.shape[2] - reach_w + kx * dw, sw)
        yield padded[:, rows, cols, :]


def _taps(weight: Sequence[int], dilations: Pair) -> Iterator[tuple[Pair, Pair]]:
    """Each (ky, kx) of a kernel, with its distance from the first tap in pixels."""
    for ky, kx in np.ndindex(weight[1], weight[2]):
        yield (ky, kx), (ky * dilations[0], kx * dilations[1])


def _every(offset: Pair, strides: Pair, count: Pair) -> tuple[slice, slice]:
    """`count` rows and columns, `strides` apart, from `offset` on."""
    rows, cols = (
        slice(offset[i], offset[i] + (count[i] - 1) * strides[i] + 1, strides[i]) for i in (0, 1)
    )
    return rows, cols


def _channel_product(x: Array, weight: Array, group: int) -> Array:
    """Grouped product over channels of x [N, H, W, I] and weight [O, I/group]; float64."""
    outputs, depth = weight.shape
    x_groups = x.reshape(*x.shape[:3], group, depth).astype(np.float64)
    w_groups = weight.reshape(group, outputs // group, depth).astype(np.float64)
    if depth == 1:
        product = x_groups * w_groups[..., 0]
    else:
        # Groups first, so that each is one matrix product.
        product = np.einsum("nhwgi,goi->nhwgo", x_groups, w_groups, optimize=True)
    return product.reshape(*x.shape[:3], outputs)


def window_sums(
    window: Window, kernel: Pair, x: Array, count_include_pad: bool
) -> tuple[Array, Array]:
    """Sums over windows.

    Args:
        window: where they are.
        kernel: height and width of a window.
        x: integers [N, H, W, C].
        count_include_pad: taps outside the image count, as zeros.

    Returns:
        The sums int64 [N, H', W', C], and the number of taps of each int64 [1, H', W', 1].
    """
    total = sum(window_taps(window, kernel, padded_image(window, x, 0)), np.int64(0))
    ones = padded_image(window, np.ones_like(x[:1, :, :, :1]), int(count_include_pad))
    count = sum(window_taps(window, kernel, ones), np.int64(0))
    return np.asarray(total), np.asarray(count)
