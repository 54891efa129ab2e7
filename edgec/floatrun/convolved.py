"""Convolutions of images, in blocks that fit the processor's cache.

No output element depends on the blocks: each sample has one step for the whole numbers of
`portable_algebra.scaled`, and the taps of a depthwise filter are added in their order.
"""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.portable_algebra import scaled, step_exponent, whole_product
from edgec.ir.image_windows import blocks, gathered, taps
from edgec.ir.shapes import GroupedWindow, window_shape

_FEW_CHANNELS = 512
"""Channels up to which a depthwise filter is laid out for a whole row of pixels."""


def convolved(x: Array, weight: Array, bias: Array | None, window: GroupedWindow) -> Array:
    """Images convolved with filters.

    Args:
        x: float64 [N, H, W, I].
        weight: float64 [O, KH, KW, I/group].
        bias: float64 [O].
        window: strides, pads, dilations and group.

    Returns:
        float64 [N, OH, OW, O].
    """
    outputs, *kernel, inputs = weight.shape
    size = window_shape(x.shape[1], x.shape[2], (kernel[0], kernel[1]), window)
    y = np.empty((len(x), *size, outputs))
    if window.group > 1 and inputs == 1 and outputs == window.group:
        _depthwise(x, weight, bias, window, y)
        return y
    for g in range(window.group):
        read = slice(g * inputs, (g + 1) * inputs)
        made = slice(g * outputs // window.group, (g + 1) * outputs // window.group)
        own = None if bias is None else bias[made]
        _dense(x[..., read], weight[made], own, window, y[..., made])
    return y


def _dense(x: Array, weight: Array, bias: Array | None, window: GroupedWindow, y: Array) -> None:
    """Write the sums of one group to y [N, OH, OW, O]."""
    terms = weight[0].size
    right = scaled(weight.reshape(len(weight), terms).T, -2, terms)
    exponent = step_exponent(x, (1, 2, 3), terms)
    factor = np.ldexp(1.0, -exponent)
    # Powers of two, so their product is exact; for whole rows of pixels, which take one loop.
    step = np.tile((np.ldexp(1.0, exponent) * right.step)[:, 0], (1, 1, y.shape[2]))
    offset = None if bias is None else np.tile(bias, y.shape[2])
    kernel = (weight.shape[1], weight.shape[2])
    for block in blocks(y.shape, terms + len(weight)):
        image = block.read(x, kernel, window, factor)
        np.rint(image, out=image)
        rows = gathered(image, kernel, window.strides, window.dilations)
        made = y[block.place]
        place = made.reshape(len(rows), -1) if made.flags.c_contiguous else None
        sums = whole_product(rows, right.whole, place).reshape(*made.shape[:2], -1)
        sums *= step[block.samples]
        if offset is not None:
            sums += offset
        if place is None:
            made[...] = sums.reshape(made.shape)


def _depthwise(
    x: Array, weight: Array, bias: Array | None, window: GroupedWindow, y: Array
) -> None:
    """Write each channel's sums, by its own filter, to y [N, OH, OW, C]; a tap at a time."""
    channels, kernel = len(weight), (weight.shape[1], weight.shape[2])
    filters = np.ascontiguousarray(weight[..., 0].transpose(1, 2, 0))[:, :, None]
    if channels <= _FEW_CHANNELS:
        filters = np.repeat(filters, y.shape[2], axis=2)
    for block in blocks(y.shape, channels, least=1):
        total, first = y[block.place], True
        product = np.empty_like(total)
        image = block.read(x, kernel, window)
        for part, tap in taps(image, kernel, window.strides, window.dilations):
            np.multiply(part, filters[tap], out=total if first else product)
            if not first:
                np.add(total, product, out=total)
            first = False
        if bias is not None:
            total += bias
