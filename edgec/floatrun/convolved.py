"""Convolutions of images, in blocks that fit the processor's cache.

No output element depends on the blocks: each sample has one step for the whole numbers of
`portable_algebra.scaled`, and the taps of a depthwise filter are added in their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.portable_algebra import scaled, step_exponent, whole_product
from edgec.floatrun.windows import gathered, taps
from edgec.ir.shapes import GroupedWindow, Pair, window_shape

_BLOCK_ELEMENTS = 1 << 15
"""Elements of a block, about: what is read and written for it."""
_LEAST_PIXELS = 128
"""Output pixels of a block at least: rows of matrices that are worth a product."""
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
    factor, step = np.ldexp(1.0, -exponent), np.ldexp(1.0, exponent)
    kernel = (weight.shape[1], weight.shape[2])
    for block in _blocks(y, terms + len(weight), _LEAST_PIXELS):
        image = block.read(x, kernel, window, factor)
        np.rint(image, out=image)
        rows = gathered(image, kernel, window.strides, window.dilations)
        made = y[block.place]
        sums = whole_product(rows, right.whole).reshape(made.shape)
        sums *= step[block.samples]
        np.multiply(sums, right.step, out=made)
        if bias is not None:
            made += bias


def _depthwise(
    x: Array, weight: Array, bias: Array | None, window: GroupedWindow, y: Array
) -> None:
    """Write each channel's sums, by its own filter, to y [N, OH, OW, C]; a tap at a time."""
    channels, kernel = len(weight), (weight.shape[1], weight.shape[2])
    filters = np.ascontiguousarray(weight[..., 0].transpose(1, 2, 0))[:, :, None]
    if channels <= _FEW_CHANNELS:
        filters = np.repeat(filters, y.shape[2], axis=2)
    for block in _blocks(y, channels, 1):
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


@dataclass(frozen=True, slots=True)
class _Block:
    """Rows of the output of some samples."""

    samples: slice
    rows: slice

    @property
    def place(self) -> tuple[slice, slice]:
        """Its index in the output."""
        return self.samples, self.rows

    def read(
        self, x: Array, kernel: Pair, window: GroupedWindow, factor: Array | None = None
    ) -> Array:
        """Input of the block with its padding, [n, h, w, C], times a factor for each sample.

        It is a new array if there are padding or a factor.
        """
        top, left, _, right = window.pads
        span = (kernel[0] - 1) * window.dilations[0] + 1
        first = self.rows.start * window.strides[0] - top
        last = (self.rows.stop - 1) * window.strides[0] + span - top
        low = min(max(first, 0), x.shape[1])
        part = x[self.samples, low : max(min(last, x.shape[1]), low)]
        if not any(window.pads):
            return part if factor is None else part * factor[self.samples]
        image = np.zeros((len(part), last - first, x.shape[2] + left + right, x.shape[3]))
        begin = max(low - first, 0)
        inside = image[:, begin : begin + part.shape[1], left : left + x.shape[2]]
        np.multiply(part, 1.0 if factor is None else factor[self.samples], out=inside)
        return image


def _blocks(y: Array, cells: int, least: int) -> Iterator[_Block]:
    """Blocks of an output [N, OH, OW, ...], of `cells` elements for each pixel."""
    samples, height, width = y.shape[:3]
    pixels = max(_BLOCK_ELEMENTS // cells, least)
    rows = min(max(pixels // width, 1), height)
    step = max(pixels // (height * width), 1)
    for start in range(0, samples, step):
        some = slice(start, min(start + step, samples))
        for row in range(0, height, rows):
            yield _Block(some, slice(row, min(row + rows, height)))
