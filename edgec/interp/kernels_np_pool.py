"""Oracle kernels of the operators that reduce: pooling, sums, maxima."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MIN, requantize
from edgec.interp.operands import Operand, accumulators, int8_clamped
from edgec.ir import qops
from edgec.ir.ops import ReduceKind


def max_pool(attrs: qops.QMaxPool, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qops.QMaxPool`: x int8 [N, H, W, C]; int8 [N, OH, OW, C]."""
    taps = list(_window_taps(attrs, _padded(attrs, inputs[0].array, INT8_MIN)))
    return np.asarray(np.maximum.reduce(taps))


def average_pool(attrs: qops.QAveragePool, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qops.QAveragePool`: x int8 [N, H, W, C]; int8 [N, OH, OW, C]."""
    x = inputs[0].centred
    total = sum(_window_taps(attrs, _padded(attrs, x, 0)), np.int64(0))
    outside = int(attrs.count_include_pad)
    counted = _padded(attrs, np.ones_like(x[:1, :, :, :1]), outside)
    count = sum(_window_taps(attrs, counted), np.int64(0))
    multiplier = inputs[1].array[count]
    scaled = requantize(accumulators(np.asarray(total)), multiplier, attrs.shift)
    return int8_clamped(y_zero_point + scaled, attrs.act_min, attrs.act_max)


def reduce(attrs: qops.QReduce, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qops.QReduce`: int8, `attrs.axes` gone or of length 1."""
    if attrs.kind is ReduceKind.MAX:
        return np.asarray(inputs[0].array.max(axis=attrs.axes, keepdims=attrs.keepdims))
    total = np.asarray(inputs[0].centred.sum(axis=attrs.axes, keepdims=attrs.keepdims))
    scaled = requantize(accumulators(total), attrs.multiplier, attrs.shift)
    return int8_clamped(y_zero_point + scaled, attrs.act_min, attrs.act_max)


def arg_max(attrs: qops.QArgMax, inputs: Sequence[Operand], y_zero_point: int) -> Array:
    """`qops.QArgMax`: int32, `attrs.axis` gone or of length 1."""
    x, axis = inputs[0].array, attrs.axis
    if attrs.select_last_index:
        index = x.shape[axis] - 1 - np.flip(x, axis).argmax(axis=axis, keepdims=attrs.keepdims)
    else:
        index = x.argmax(axis=axis, keepdims=attrs.keepdims)
    return np.asarray(index).astype(np.int32)


def _padded(attrs: qops.QMaxPool | qops.QAveragePool, x: Array, outside: int) -> Array:
    top, left, bottom, right = attrs.pads
    border = ((0, 0), (top, bottom), (left, right), (0, 0))
    return np.pad(x, border, constant_values=outside)


def _window_taps(attrs: qops.QMaxPool | qops.QAveragePool, padded: Array) -> Iterator[Array]:
    """For each tap, what it reads at every position of the window: [N, OH, OW, C]."""
    (kh, kw), (sh, sw), (dh, dw) = attrs.kernel, attrs.strides, attrs.dilations
    reach_h, reach_w = (kh - 1) * dh, (kw - 1) * dw
    for ky, kx in np.ndindex(kh, kw):
        rows = slice(ky * dh, padded.shape[1] - reach_h + ky * dh, sh)
        cols = slice(kx * dw, padded.shape[2] - reach_w + kx * dw, sw)
        yield padded[:, rows, cols, :]
