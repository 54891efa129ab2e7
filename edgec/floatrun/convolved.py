"""Convolutions of images, in blocks that fit the processor's cache.

No output element depends on the blocks: each sample has one step for the whole numbers of
`portable_algebra.scaled`, and the taps of a depthwise filter are added in their order.
"""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.portable_algebra import Scaled, scaled, step_exponent, whole_product
from edgec.ir.image_windows import blocks, gathered, taps
from edgec.ir.shapes import GroupedWindow, Pair, window_shape

_FEW_CHANNELS = 512
"""Channels up to which a depthwise filter is laid out for a whole row of pixels."""


def convolved(x: Array, weight: Array, bias: Array | None, window: GroupedWindow) -> Array:
    """Images convolved with filters; see `Filters`.

    Args:
        x: float64 [N, H, W, I].
        weight: float64 [O, KH, KW, I/group].
        bias: float64 [O].
        window: strides, pads, dilations and group.

    Returns:
        float64 [N, OH, OW, O].
    """
    return Filters(weight, window).convolved(x, bias)


class Filters:
    """Weights of a convolution, made ready once for any number of images."""

    def __init__(self, weight: Array, window: GroupedWindow) -> None:
        """Scale the weights.

        Args:
            weight: float64 [O, KH, KW, I/group].
            window: strides, pads, dilations and group.
        """
        self._weight, self._window = weight, window
        outputs, _, _, inputs = weight.shape
        self._depthwise = window.group > 1 and inputs == 1 and outputs == window.group
        rows = () if self._depthwise else weight.reshape(window.group, outputs // window.group, -1)
        self._groups = [scaled(own.T, -2, own.shape[1]) for own in rows]

    def convolved(self, x: Array, bias: Array | None) -> Array:
        """Images [N, H, W, I] convolved, with bias [O]; float64 [N, OH, OW, O]."""
        window, weight = self._window, self._weight
        kernel, inputs = (weight.shape[1], weight.shape[2]), weight.shape[3]
        y = np.empty((len(x), *window_shape(x.shape[1], x.shape[2], kernel, window), len(weight)))
        if self._depthwise:
            _depthwise(x, weight, bias, window, y)
        for g, right in enumerate(self._groups):
            outputs = right.whole.shape[1]
            made = slice(g * outputs, (g + 1) * outputs)
            own = None if bias is None else bias[made]
            read = x[..., g * inputs : (g + 1) * inputs]
            _dense(read, right, own, kernel, window, y[..., made])
        return y


def _dense(
    x: Array, right: Scaled, bias: Array | None, kernel: Pair, window: GroupedWindow, y: Array
) -> None:
    """Write the sums of one group, with filters [KH * KW * I, O], to y [N, OH, OW, O]."""
    terms, outputs = right.whole.shape
    exponent = step_exponent(x, (1, 2, 3), terms)
    factor = np.ldexp(1.0, -exponent)
    # Powers of two, so their product is exact; for whole rows of pixels, which take one loop.
    step = np.tile((np.ldexp(1.0, exponent) * right.step)[:, 0], (1, 1, y.shape[2]))
    offset = None if bias is None else np.tile(bias, y.shape[2])
    for block in blocks(y.shape, terms + outputs):
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
