"""Operators that take several elements to one: norms, pooling, reductions, interpolation.

Sums run over contiguous rows, so that their order depends on nothing but the length of the row.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from edgec.base.dtypes import Array
from edgec.floatrun.operands import Rule
from edgec.ir import ops
from edgec.ir.image_windows import padded, taps
from edgec.ir.operator import OperatorTable

RULES = OperatorTable[Rule]()


@RULES.entry(ops.LayerNormalization)
def _layer_norm(attrs: ops.LayerNormalization, inputs: ops.Norm.Inputs[Array]) -> Array:
    values = np.ascontiguousarray(inputs.x)
    centred = values - values.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    y = centred / np.sqrt(variance + attrs.epsilon) * inputs.gamma[0]
    return np.asarray(y if inputs.beta is None else y + inputs.beta[0])


@RULES.entry(ops.RMSNormalization)
def _rms_norm(attrs: ops.RMSNormalization, inputs: ops.Norm.Inputs[Array]) -> Array:
    values = np.ascontiguousarray(inputs.x)
    power = (values * values).mean(axis=-1, keepdims=True)
    return np.asarray(values / np.sqrt(power + attrs.epsilon) * inputs.gamma[0])


@RULES.entry(ops.BatchNormalization)
def _batch_norm(
    attrs: ops.BatchNormalization, inputs: ops.BatchNormalization.Inputs[Array]
) -> Array:
    unit = (inputs.x - inputs.mean[0]) / np.sqrt(inputs.var[0] + attrs.epsilon)
    return np.asarray(unit * inputs.scale[0] + inputs.b[0])


@RULES.entry(ops.MaxPool)
def _max_pool(attrs: ops.MaxPool, inputs: ops.OneInput.Inputs[Array]) -> Array:
    real = inputs.x.dtype.kind == "f"
    least = -math.inf if real else np.iinfo(inputs.x.dtype).min

    def pooled(images: Array) -> Array:
        parts = taps(
            padded(images, attrs.pads, least), attrs.kernel, attrs.strides, attrs.dilations
        )
        y = np.array(next(parts)[0])
        for part, _ in parts:
            np.maximum(y, part, out=y)
        return y

    return _by_images(pooled, inputs.x)


_IMAGE_ELEMENTS = 1 << 16
"""Elements of images that are pooled at a time, about: as many as fit the processor's cache."""


def _by_images(function: Callable[[Array], Array], x: Array) -> Array:
    """The results of a function of images [K, H, W, C] for [S, N, H, W, C], a few at a time."""
    images = x.reshape(-1, *x.shape[2:])
    step = max(_IMAGE_ELEMENTS // max(images[0].size, 1), 1)
    parts = [function(images[start : start + step]) for start in range(0, len(images), step)]
    y = np.concatenate(parts)
    return y.reshape(*x.shape[:2], *y.shape[1:])


@RULES.entry(ops.AveragePool)
def _average_pool(attrs: ops.AveragePool, inputs: ops.OneInput.Inputs[Array]) -> Array:
    inside = padded(np.ones((1, *inputs.x.shape[2:4], 1)), attrs.pads)
    counted = _tap_sum(np.ones_like(inside) if attrs.count_include_pad else inside, attrs)
    return _by_images(
        lambda images: _tap_sum(padded(images, attrs.pads), attrs) / counted, inputs.x
    )


def _tap_sum(images: Array, attrs: ops.AveragePool) -> Array:
    parts = taps(images, attrs.kernel, attrs.strides, attrs.dilations)
    total = np.array(next(parts)[0])
    for part, _ in parts:
        total += part
    return total


@RULES.entry(ops.Reduce)
def _reduce(attrs: ops.Reduce, inputs: ops.OneInput.Inputs[Array]) -> Array:
    axes = tuple(axis + 1 for axis in attrs.axes)
    kept = tuple(axis for axis in range(inputs.x.ndim) if axis not in axes)
    moved = inputs.x.transpose(*kept, *axes)
    rows = np.ascontiguousarray(moved).reshape(*moved.shape[: len(kept)], -1)
    match attrs.kind:
        case ops.ReduceKind.MAX:
            y = rows.max(axis=-1)
        case ops.ReduceKind.MIN:
            y = rows.min(axis=-1)
        case ops.ReduceKind.SUM:
            y = rows.sum(axis=-1)
        case ops.ReduceKind.L1:
            y = np.abs(rows).sum(axis=-1)
        case ops.ReduceKind.L2:
            y = np.sqrt((rows * rows).sum(axis=-1))
        case ops.ReduceKind.SUM_SQUARE:
            y = (rows * rows).sum(axis=-1)
        case ops.ReduceKind.MEAN:
            y = rows.mean(axis=-1)
    return np.asarray(np.expand_dims(y, axes) if attrs.keepdims else y)


@RULES.entry(ops.ArgMax)
def _argmax(attrs: ops.ArgMax, inputs: ops.OneInput.Inputs[Array]) -> Array:
    x, axis = -inputs.x if attrs.smallest else inputs.x, attrs.axis + 1
    if attrs.select_last_index:
        turned = np.argmax(np.flip(x, axis), axis=axis, keepdims=attrs.keepdims)
        found = x.shape[axis] - 1 - turned
    else:
        found = np.argmax(x, axis=axis, keepdims=attrs.keepdims)
    return np.asarray(found, np.int32)


@RULES.entry(ops.TopK)
def _top_k(attrs: ops.TopK, inputs: ops.OneInput.Inputs[Array]) -> Array:
    x = inputs.x
    order = np.argsort(-x if attrs.largest else x, axis=-1, kind="stable")[..., : attrs.k]
    return order.astype(np.int32) if attrs.indices else np.take_along_axis(x, order, axis=-1)


@RULES.entry(ops.Resize)
def _resize(attrs: ops.Resize, inputs: ops.OneInput.Inputs[Array]) -> Array:
    rows = _interpolated(inputs.x, 2, attrs.row_low, attrs.row_high, attrs.row_weights)
    return _interpolated(rows, 3, attrs.col_low, attrs.col_high, attrs.col_weights)


def _interpolated(
    x: Array, axis: int, low: tuple[int, ...], high: tuple[int, ...], weights: tuple[float, ...]
) -> Array:
    below = np.take(x, low, axis=axis)
    if not any(weights):
        return below
    weight = np.asarray(weights).reshape(-1, *[1] * (x.ndim - axis - 1))
    return np.asarray((1.0 - weight) * below + weight * np.take(x, high, axis=axis))
