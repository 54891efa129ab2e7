"""Operators that take parts of tensors or put tensors together."""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import DType
from edgec.importers.common.axes import normal_axis
from edgec.importers.common.parts import padded, pick, range_of, take
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.node import OnnxNode
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.ops import PadMode

KEEP_SCORES = (
    "keep the scores only, whose largest decides: "
    "onnx.utils.extract_model(model, new_model, [input], [scores])"
)
_MOST_CHOSEN = 1 << 24
"""Elements that a GatherND is followed through."""


def slice_(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant starts, ends, axes, steps; negative steps; attribute and input forms."""
    x = node.tensor(0)
    starts, ends = node.axes_input("starts", 1), node.axes_input("ends", 2)
    if starts is None or ends is None or len(starts) != len(ends):
        raise UnsupportedError("starts and ends do not belong together", "correct the model")
    axes = node.axes_input("axes", 3) or tuple(range(len(starts)))
    steps = node.ints_input(4, "steps") if node.has(4) else (1,) * len(starts)
    if not len(starts) == len(axes) == len(steps) or 0 in steps:
        raise UnsupportedError("starts, axes and steps do not belong together", "correct it")
    ranges = {}
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        where = normal_axis(axis, len(x.shape))
        ranges[where] = range_of(x.shape[where], start, end, step)
    return take(ctx, x, ranges)


def split(ctx: Context, node: OnnxNode) -> tuple[Tensor, ...]:
    """Constant sizes as attribute or input, or equal parts."""
    x = node.tensor(0)
    axis = normal_axis(node.integer("axis", 0), len(x.shape))
    count = len(node.outputs)
    sizes = node.axes_input("split", 1)
    if sizes is None:
        # num_outputs: equal parts, the last one smaller if need be.
        part = -(-x.shape[axis] // count)
        sizes = (part,) * (count - 1) + (x.shape[axis] - part * (count - 1),)
    if len(sizes) != count or sum(sizes) != x.shape[axis] or min(sizes) < 1:
        raise UnsupportedError(
            f"parts {list(sizes)} do not make up the axis of {x.shape[axis]}", "correct the model"
        )
    starts = [sum(sizes[:i]) for i in range(count)]
    return tuple(
        take(ctx, x, {axis: (start, 1, size)}) for start, size in zip(starts, sizes, strict=True)
    )


def gather(ctx: Context, node: OnnxNode) -> Tensor:
    """Any indices into a constant; constant, evenly spaced indices into a computed tensor."""
    x, indices = node.tensor(0), node.tensor(1)
    if isinstance(indices, Value):
        return _embedding(ctx, x, indices, node.integer("axis", 0))
    axis = normal_axis(node.integer("axis", 0), len(x.shape))
    if isinstance(x, Constant):
        return ctx.pools.gather(x, indices, axis)
    return pick(ctx, x, axis, indices.array)


def _embedding(ctx: Context, table: Tensor, ids: Value, axis: int) -> Tensor:
    if not isinstance(table, Constant) or ids.dtype is not DType.INT32:
        raise UnsupportedError(
            "its indices are computed at run time", "let integer inputs choose rows of a constant"
        )
    if len(table.shape) != 2 or axis not in (0, -2):
        raise UnsupportedError("it picks parts of rows", "gather along axis 0 of a matrix")
    return ctx.emit(ops.Embedding(), ids, table, dtype=DType.FLOAT32)


def gather_nd(ctx: Context, node: OnnxNode) -> Tensor:
    """Elements of a computed tensor by constant, evenly spaced indices."""
    x, indices = node.value(0), node.constant(1, "indices").array
    depth = indices.shape[-1] if indices.ndim else 0
    if node.integer("batch_dims", 0) or not 1 <= depth <= len(x.shape):
        raise UnsupportedError("its indices do not choose elements", "use Slice or Gather")
    if max(math.prod(x.shape), indices.size) > _MOST_CHOSEN:
        raise UnsupportedError("it chooses among too many elements", "use Slice or Gather")
    places = np.arange(math.prod(x.shape)).reshape(x.shape)
    try:
        found = places[tuple(np.moveaxis(indices, -1, 0))]
    except IndexError as error:
        raise UnsupportedError("its indices lie outside the tensor", "correct it") from error
    steps = np.unique(np.diff(found.ravel())).tolist() or [1]
    if found.size == 0 or len(steps) > 1 or steps[0] == 0:
        raise UnsupportedError("its elements are not evenly spaced", "use Slice or Gather")
    start = int(found.reshape(-1)[0])
    taken = take(ctx, ctx.reshape(x, (places.size,)), {0: (start, steps[0], found.size)})
    return ctx.reshape(taken, found.shape)


def gather_elements(_ctx: Context, node: OnnxNode) -> Tensor:
    """Only from a constant whose elements are all equal: then the indices do not matter."""
    table, indices = node.tensor(0), node.tensor(1)
    one = isinstance(table, Constant) and np.unique(table.array).size == 1
    if not isinstance(table, Constant) or not one or table.quant is not None:
        raise UnsupportedError(
            "it picks single elements at run time", "give what it computes as an input"
        )
    return Constant(table.name, np.broadcast_to(table.array.reshape(-1)[0], indices.shape))


def class_labels(ctx: Context, node: OnnxNode) -> Tensor:
    """Only the labels 0, 1, 2, ... of a scikit-learn classifier: they are what ArgMax gives."""
    labels, index = node.constant(0, "labels"), node.value(1)
    counted = labels.array.reshape(-1).tolist() == list(range(labels.array.size))
    if index.dtype is not DType.INT32 or not counted:
        raise UnsupportedError("its labels are not 0, 1, 2, ...", KEEP_SCORES)
    return ctx.reshape(index, (1, math.prod(index.shape)))


def concat(ctx: Context, node: OnnxNode) -> Tensor:
    """Along any axis; float constants allowed among the inputs."""
    tensors = [node.tensor(i) for i in range(node.input_count)]
    axis = normal_axis(node.integer("axis", 1), len(tensors[0].shape))
    if all(isinstance(t, Constant) for t in tensors):
        raise UnsupportedError("all inputs are constants", "fold constants before the export")
    kinds = {t.dtype for t in tensors if not (isinstance(t, Constant) and t.quant is not None)}
    if len(kinds) > 1 or (
        DType.FLOAT32 not in kinds and any(isinstance(t, Constant) for t in tensors)
    ):
        raise UnsupportedError("its inputs mix floats and integers", "dequantize them before")
    if len(tensors) == 1:
        return tensors[0]
    dtype = next(iter(kinds)) if kinds else DType.FLOAT32
    return ctx.emit(ops.Concat(axis), *tensors, dtype=dtype)


def pad(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant pads; modes constant, reflect and edge; negative pads crop."""
    x = node.data_value(0)
    modes = {mode.value: mode for mode in PadMode}
    mode = modes.get(node.text("mode", "constant"))
    if mode is None:
        raise UnsupportedError("its mode is not constant, reflect or edge", "use one of these")
    if node.opset < 11:
        pads, value = node.integers("pads") or (), node.number("value", 0.0)
    else:
        pads = node.ints_input(1, "pads")
        value = node.float_input(2, "constant_value") if node.has(2) else 0.0
    rank = len(x.shape)
    axes = node.ints_input(3, "axes") if node.has(3) else tuple(range(rank))
    if len(pads) != 2 * len(axes):
        raise UnsupportedError(f"{len(pads)} pads for {len(axes)} axes", "correct the model")
    both = [(0, 0)] * rank
    for i, axis in enumerate(axes):
        both[normal_axis(axis, rank)] = (pads[i], pads[i + len(axes)])
    return padded(ctx, x, both, mode, value)
