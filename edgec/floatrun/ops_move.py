"""Operators that move elements without computing; they take reals and codes alike."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.floatrun.operands import Rule, aligned
from edgec.ir import ops
from edgec.ir.operator_table import OperatorTable

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


@RULES.entry(ops.Expand)
def _expand(attrs: ops.Expand, inputs: ops.OneInput.Inputs[Array]) -> Array:
    x = inputs.x
    missing = (1,) * (len(attrs.shape) + 1 - x.ndim)
    raised = x.reshape(len(x), *missing, *x.shape[1:])
    return np.ascontiguousarray(np.broadcast_to(raised, (len(x), *attrs.shape)))


@RULES.entry(ops.Embedding)
def _embedding(_attrs: ops.Embedding, inputs: ops.Embedding.Inputs[Array]) -> Array:
    return np.asarray(inputs.table[0][inputs.ids.astype(np.int64)])
