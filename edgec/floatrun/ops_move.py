"""Operators that move elements without computing; they take reals and codes alike."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.floatrun.operands import Rule, aligned
from edgec.ir import ops
from edgec.ir.operator import OperatorTable

RULES = OperatorTable[Rule]()


@RULES.entry(ops.Reshape)
def _reshape(attrs: ops.Reshape, inputs: ops.OneInput.Inputs[Array]) -> Array:
    return inputs.x.reshape(len(inputs.x), *attrs.shape)


@RULES.entry(ops.Transpose)
def _transpose(attrs: ops.Transpose, inputs: ops.OneInput.Inputs[Array]) -> Array:
    moved = inputs.x.transpose(0, *(axis + 1 for axis in attrs.perm))
    return np.ascontiguousarray(moved)


@RULES.entry(ops.Slice)
def _slice(attrs: ops.Slice, inputs: ops.OneInput.Inputs[Array]) -> Array:
    y = inputs.x
    ranges = zip(attrs.starts, attrs.steps, attrs.sizes, strict=True)
    for axis, (start, step, size) in enumerate(ranges, start=1):
        if (start, step, size) != (0, 1, y.shape[axis]):
            y = np.take(y, start + step * np.arange(size), axis=axis)
    return y


@RULES.entry(ops.Concat)
def _concat(attrs: ops.Concat, inputs: ops.Concat.Inputs[Array]) -> Array:
    parts = aligned(*inputs.parts)
    samples = max(len(part) for part in parts)
    full = [np.broadcast_to(part, (samples, *part.shape[1:])) for part in parts]
    return np.concatenate(full, axis=attrs.axis + 1)


@RULES.entry(ops.Pad)
def _pad(attrs: ops.Pad, inputs: ops.OneInput.Inputs[Array]) -> Array:
    pads = ((0, 0), *attrs.pads)
    if attrs.mode is ops.PadMode.CONSTANT:
        return np.pad(inputs.x, pads, constant_values=attrs.value)
    return np.pad(inputs.x, pads, mode=attrs.mode.value)


@RULES.entry(ops.SpaceToBatch)
def _space_to_batch(attrs: ops.SpaceToBatch, inputs: ops.OneInput.Inputs[Array]) -> Array:
    count, x = len(attrs.blocks), inputs.x
    rest = x.ndim - count - 2
    x = np.pad(x, ((0, 0), (0, 0), *attrs.pads, *((0, 0),) * rest))
    cut = [part for n, b in zip(x.shape[2:], attrs.blocks, strict=False) for part in (n // b, b)]
    split = x.reshape(*x.shape[:2], *cut, *x.shape[count + 2 :])
    inner, outer = (range(first, 2 * count + 2, 2) for first in (3, 2))
    moved = split.transpose(0, *inner, 1, *outer, *range(2 * count + 2, split.ndim))
    return moved.reshape(len(x), -1, *moved.shape[count + 2 :])


@RULES.entry(ops.BatchToSpace)
def _batch_to_space(attrs: ops.BatchToSpace, inputs: ops.OneInput.Inputs[Array]) -> Array:
    count, x = len(attrs.blocks), inputs.x
    split = x.reshape(len(x), *attrs.blocks, -1, *x.shape[2:])
    mixed = [axis for i in range(count) for axis in (count + 2 + i, 1 + i)]
    moved = split.transpose(0, count + 1, *mixed, *range(2 * count + 2, split.ndim))
    grown = [n * b for n, b in zip(x.shape[2:], attrs.blocks, strict=False)]
    y = moved.reshape(len(x), -1, *grown, *x.shape[count + 2 :])
    crops = zip(grown, attrs.crops, strict=True)
    return y[(slice(None), slice(None), *(slice(a, n - b) for n, (a, b) in crops))]


@RULES.entry(ops.Expand)
def _expand(attrs: ops.Expand, inputs: ops.OneInput.Inputs[Array]) -> Array:
    x = inputs.x
    missing = (1,) * (len(attrs.shape) + 1 - x.ndim)
    raised = x.reshape(len(x), *missing, *x.shape[1:])
    return np.ascontiguousarray(np.broadcast_to(raised, (len(x), *attrs.shape)))


@RULES.entry(ops.Embedding)
def _embedding(_attrs: ops.Embedding, inputs: ops.Embedding.Inputs[Array]) -> Array:
    return np.asarray(inputs.table[0][inputs.ids.astype(np.int64)])
