"""What the filters of a layer read: the rows that its weights are multiplied by."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.floatrun.windows import padded
from edgec.ir import ops
from edgec.ir.graph import Node
from edgec.ir.shapes import window_out

_MOST_ELEMENTS = 1 << 22
"""Elements of all rows of a layer; of more rows some are drawn."""


def read_rows(node: Node, shape: tuple[int, ...], x: Array) -> Array:
    """What output elements of a layer read.

    Args:
        node: a Conv or Gemm.
        shape: the shape of the layer's weights, [O, KH, KW, I/group] or [N, K].
        x: float64 [S, ..., H, W, I], or [S, ..., I] of a Gemm: its input for S samples.

    Returns:
        float64 [group, R, K] with K the weights of a filter, in their order; where there would be
        more than `_MOST_ELEMENTS`, as many as there is room for, drawn the same in every run.
    """
    attrs = node.attrs
    if not isinstance(attrs, ops.Conv):
        rows = x.reshape(-1, x.shape[-1])
        return rows[_drawn(len(rows), x.shape[-1])][None]
    kernel = (shape[1], shape[2])
    image = padded(x.reshape(-1, *x.shape[-3:]), attrs.pads)
    size = [
        window_out(image.shape[axis + 1], kernel[axis], attrs.strides[axis], dilation, 0, 0)
        for axis, dilation in enumerate(attrs.dilations)
    ]
    count = len(image) * size[0] * size[1]
    drawn = _drawn(count, kernel[0] * kernel[1] * image.shape[-1])
    sample, row, col = np.unravel_index(np.arange(count)[drawn], (len(image), *size))
    taps = [
        image[
            sample,
            row * attrs.strides[0] + down * attrs.dilations[0],
            col * attrs.strides[1] + right * attrs.dilations[1],
        ]
        for down in range(kernel[0])
        for right in range(kernel[1])
    ]
    read = np.stack(taps, axis=1)  # [R, taps, I]
    grouped = read.reshape(*read.shape[:2], attrs.group, -1).transpose(2, 0, 1, 3)
    return np.ascontiguousarray(grouped).reshape(attrs.group, len(read), -1)


def _drawn(count: int, elements: int) -> Array | slice:
    """The rows to look at, of `count` rows of `elements` each."""
    most = max(_MOST_ELEMENTS // elements, 1)
    if count <= most:
        return slice(None)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))
