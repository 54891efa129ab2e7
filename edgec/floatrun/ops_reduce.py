"""Operators that take several elements to one: norms, pooling, reductions, interpolation.

Sums run over contiguous rows, so that their order depends on nothing but the length of the row.
"""

from __future__ import annotations

import math
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import Array
from edgec.floatrun.operands import Operands, Rules
from edgec.floatrun.windows import padded, taps
from edgec.ir import ops


def _layer_norm(attrs: ops.LayerNormalization, x: Operands) -> Array:
    values = np.ascontiguousarray(x[0])
    centred = values - values.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    y = centred / np.sqrt(variance + attrs.epsilon) * x[1][0]
    beta = x.optional(2)
    return np.asarray(y if beta is None else y + beta[0])


def _rms_norm(attrs: ops.RMSNormalization, x: Operands) -> Array:
    values = np.ascontiguousarray(x[0])
    power = (values * values).mean(axis=-1, keepdims=True)
    return np.asarray(values / np.sqrt(power + attrs.epsilon) * x[1][0])


def _batch_norm(attrs: ops.BatchNormalization, x: Operands) -> Array:
    scale, bias, mean, variance = (x[index][0] for index in range(1, 5))
    return np.asarray((x[0] - mean) / np.sqrt(variance + attrs.epsilon) * scale + bias)


def _max_pool(attrs: ops.MaxPool, x: Operands) -> Array:
    images = x[0].reshape(-1, *x[0].shape[2:])
    real = images.dtype.kind == "f"
    least = -math.inf if real else np.iinfo(images.dtype).min
    full = padded(images, attrs.pads, least)
    parts = [part for part, _ in taps(full, attrs.kernel, attrs.strides, attrs.dilations)]
    y = parts[0]
    for part in parts[1:]:
        y = np.maximum(y, part)
    return y.reshape(*x[0].shape[:2], *y.shape[1:])


def _average_pool(attrs: ops.AveragePool, x: Operands) -> Array:
    images = x[0].reshape(-1, *x[0].shape[2:])
    y = _tap_sum(padded(images, attrs.pads), attrs)
    inside = padded(np.ones((1, *images.shape[1:3], 1)), attrs.pads)
    counted = np.ones_like(inside) if attrs.count_include_pad else inside
    y = y / _tap_sum(counted, attrs)
    return np.asarray(y.reshape(*x[0].shape[:2], *y.shape[1:]))


def _tap_sum(images: Array, attrs: ops.AveragePool) -> Array:
    parts = [part for part, _ in taps(images, attrs.kernel, attrs.strides, attrs.dilations)]
    total = parts[0].copy()
    for part in parts[1:]:
        total += part
    return total


def _reduce(attrs: ops.Reduce, x: Operands) -> Array:
    axes = tuple(axis + 1 for axis in attrs.axes)
    kept = tuple(axis for axis in range(x[0].ndim) if axis not in axes)
    moved = x[0].transpose(*kept, *axes)
    rows = np.ascontiguousarray(moved).reshape(*moved.shape[: len(kept)], -1)
    match attrs.kind:
        case ops.ReduceKind.MAX:
            y = rows.max(axis=-1)
        case ops.ReduceKind.SUM:
            y = rows.sum(axis=-1)
        case ops.ReduceKind.MEAN:
            y = rows.mean(axis=-1)
    return np.asarray(np.expand_dims(y, axes) if attrs.keepdims else y)


def _argmax(attrs: ops.ArgMax, x: Operands) -> Array:
    axis = attrs.axis + 1
    if attrs.select_last_index:
        turned = np.argmax(np.flip(x[0], axis), axis=axis, keepdims=attrs.keepdims)
        found = x[0].shape[axis] - 1 - turned
    else:
        found = np.argmax(x[0], axis=axis, keepdims=attrs.keepdims)
    return np.asarray(found, np.int32)


def _resize(attrs: ops.Resize, x: Operands) -> Array:
    rows = _interpolated(x[0], 2, attrs.row_low, attrs.row_high, attrs.row_weights)
    return _interpolated(rows, 3, attrs.col_low, attrs.col_high, attrs.col_weights)


def _interpolated(
    x: Array, axis: int, low: tuple[int, ...], high: tuple[int, ...], weights: tuple[float, ...]
) -> Array:
    below = np.take(x, low, axis=axis)
    if not any(weights):
        return below
    weight = np.asarray(weights).reshape(-1, *[1] * (x.ndim - axis - 1))
    return np.asarray((1.0 - weight) * below + weight * np.take(x, high, axis=axis))


RULES: Rules = MappingProxyType(
    {
        ops.LayerNormalization: _layer_norm,
        ops.RMSNormalization: _rms_norm,
        ops.BatchNormalization: _batch_norm,
        ops.MaxPool: _max_pool,
        ops.AveragePool: _average_pool,
        ops.Reduce: _reduce,
        ops.ArgMax: _argmax,
        ops.Resize: _resize,
    }
)
