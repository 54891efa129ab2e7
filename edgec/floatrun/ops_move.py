"""Operators that move elements without computing; they take reals and codes alike."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import Array
from edgec.floatrun.operands import Operands, Rules
from edgec.ir import ops


def _reshape(attrs: ops.Reshape, x: Operands) -> Array:
    return x[0].reshape(len(x[0]), *attrs.shape)


def _transpose(attrs: ops.Transpose, x: Operands) -> Array:
    moved = x[0].transpose(0, *(axis + 1 for axis in attrs.perm))
    return np.ascontiguousarray(moved)


def _slice(attrs: ops.Slice, x: Operands) -> Array:
    y = x[0]
    ranges = zip(attrs.starts, attrs.steps, attrs.sizes, strict=True)
    for axis, (start, step, size) in enumerate(ranges, start=1):
        if (start, step, size) != (0, 1, y.shape[axis]):
            y = np.take(y, start + step * np.arange(size), axis=axis)
    return y


def _concat(attrs: ops.Concat, x: Operands) -> Array:
    parts = x.aligned()
    samples = max(len(part) for part in parts)
    full = [np.broadcast_to(part, (samples, *part.shape[1:])) for part in parts]
    return np.concatenate(full, axis=attrs.axis + 1)


def _pad(attrs: ops.Pad, x: Operands) -> Array:
    pads = ((0, 0), *attrs.pads)
    if attrs.mode is ops.PadMode.CONSTANT:
        return np.pad(x[0], pads, constant_values=attrs.value)
    return np.pad(x[0], pads, mode=attrs.mode.value)


def _expand(attrs: ops.Expand, x: Operands) -> Array:
    missing = (1,) * (len(attrs.shape) + 1 - x[0].ndim)
    raised = x[0].reshape(len(x[0]), *missing, *x[0].shape[1:])
    return np.ascontiguousarray(np.broadcast_to(raised, (len(x[0]), *attrs.shape)))


def _embedding(attrs: ops.Embedding, x: Operands) -> Array:
    return np.asarray(x[1][0][x[0].astype(np.int64)])


RULES: Rules = MappingProxyType(
    {
        ops.Reshape: _reshape,
        ops.Transpose: _transpose,
        ops.Slice: _slice,
        ops.Concat: _concat,
        ops.Pad: _pad,
        ops.Expand: _expand,
        ops.Embedding: _embedding,
    }
)
