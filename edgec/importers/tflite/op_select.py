"""Operators that take parts of tensors or put tensors together."""

from __future__ import annotations

import math

import numpy as np
import tflite

from edgec.base.dtypes import DType
from edgec.importers.common.attributes import normal_axis
from edgec.importers.common.gathered import (
    Range,
    continued,
    expanded,
    padded,
    pick,
    range_of,
    symmetric_places,
    take,
    tiled,
)
from edgec.importers.common.scattered import slice_places
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.tflite.attributes import fused
from edgec.importers.tflite.context import Context
from edgec.importers.tflite.node import TfliteNode
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.ops import PadMode


def slice_(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant begin and size."""
    x, begins, sizes = node.movable(0), node.whole(1, "begin"), node.whole(2, "size")
    if not len(begins) == len(sizes) == len(x.shape):
        raise UnsupportedError("begin and size do not fit the input", "correct the model")
    ranges: dict[int, Range] = {}
    for axis, (whole, begin, size) in enumerate(zip(x.shape, begins, sizes, strict=True)):
        count = whole - begin if size == -1 else size
        if begin < 0 or count < 1 or begin + count > whole:
            raise UnsupportedError(f"it takes {count} of {whole} from {begin} on", "correct it")
        ranges[axis] = (begin, 1, count)
    return take(ctx, x, ranges)


def strided_slice(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant begin, end and strides; masks, but for new axes and ellipses."""
    x = node.movable(0)
    begins, ends, steps = (node.whole(i, n) for i, n in ((1, "begin"), (2, "end"), (3, "strides")))
    if not len(begins) == len(ends) == len(steps) <= len(x.shape) or 0 in steps:
        raise UnsupportedError("begin, end and strides do not fit the input", "correct the model")
    if node.integer("EllipsisMask") or node.integer("NewAxisMask"):
        raise UnsupportedError("it has an ellipsis or a new axis", "write the slice out")
    dropped = node.integer("ShrinkAxisMask")
    bounds = enumerate(zip(begins, ends, steps, strict=True))
    ranges = {axis: _strided(node, axis, x.shape[axis], *each) for axis, each in bounds}
    taken = take(ctx, x, ranges)
    kept = [s for axis, s in enumerate(taken.shape) if not dropped >> axis & 1]
    return ctx.reshape(taken, kept)


def _strided(node: TfliteNode, axis: int, size: int, begin: int, end: int, step: int) -> Range:
    """The part of an axis that a STRIDED_SLICE takes: a bit of each mask belongs to the axis."""

    def masked(name: str) -> bool:
        return bool(node.integer(name) >> axis & 1)

    if masked("ShrinkAxisMask"):
        return normal_axis(begin, size), 1, 1
    last = begin + end if node.integer("Offset") else end
    start, stop = (0, size) if step > 0 else (size - 1, -size - 1)
    first = start if masked("BeginMask") else begin
    return range_of(size, first, stop if masked("EndMask") else last, step)


def split(ctx: Context, node: TfliteNode) -> tuple[Tensor, ...]:
    """Constant axis; equal parts."""
    (axis,), x = _one(node.whole(0, "axis")), node.movable(1)
    axis, count = normal_axis(axis, len(x.shape)), len(node.outputs)
    if x.shape[axis] % count:
        raise UnsupportedError(f"{count} parts do not divide {x.shape[axis]}", "correct it")
    return _parts(ctx, x, axis, (x.shape[axis] // count,) * count)


def split_v(ctx: Context, node: TfliteNode) -> tuple[Tensor, ...]:
    """Constant axis and sizes."""
    x, sizes, (axis,) = node.movable(0), node.whole(1, "sizes"), _one(node.whole(2, "axis"))
    axis = normal_axis(axis, len(x.shape))
    rest = x.shape[axis] - sum(size for size in sizes if size != -1)
    return _parts(ctx, x, axis, tuple(rest if size == -1 else size for size in sizes))


def unpack(ctx: Context, node: TfliteNode) -> tuple[Tensor, ...]:
    """Any axis."""
    x = node.movable(0)
    axis = normal_axis(node.integer("Axis"), len(x.shape))
    parts = _parts(ctx, x, axis, (1,) * len(node.outputs))
    return tuple(ctx.reshape(p, (*x.shape[:axis], *x.shape[axis + 1 :])) for p in parts)


def concatenation(ctx: Context, node: TfliteNode) -> Tensor:
    """Along any axis; constants allowed among the inputs."""
    tensors = _inputs(node)
    axis = normal_axis(node.integer("Axis"), len(tensors[0].shape))
    joined = _joined(ctx, node, tensors, axis)
    return fused(ctx, node, joined) if isinstance(joined, Value) else joined


def pack(ctx: Context, node: TfliteNode) -> Tensor:
    """Along any axis; constants allowed among the inputs."""
    tensors = _inputs(node)
    axis = normal_axis(node.integer("Axis"), len(tensors[0].shape) + 1)
    grown = [ctx.reshape(t, (*t.shape[:axis], 1, *t.shape[axis:])) for t in tensors]
    return _joined(ctx, node, grown, axis)


def gather(ctx: Context, node: TfliteNode) -> Tensor:
    """Rows of a constant by computed indices; constant indices into any tensor."""
    x, indices = node.movable(0), node.tensor(1)
    axis = normal_axis(node.integer("Axis"), len(x.shape))
    if node.integer("BatchDims"):
        raise UnsupportedError("it gathers within batches (batch_dims)", "use batch_dims of 0")
    if isinstance(indices, Constant):
        return pick(ctx, x, axis, indices.array)
    if not isinstance(x, Constant) or len(x.shape) != 2 or axis or indices.dtype is not DType.INT32:
        raise UnsupportedError(
            "its indices are computed at run time", "let integer inputs choose rows of a constant"
        )
    return ctx.emit(ops.Embedding(), indices, x, dtype=DType.FLOAT32)


def gather_nd(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant indices."""
    x, indices = node.movable(0), node.constant(1, "indices").array
    if not indices.ndim or not 1 <= indices.shape[-1] <= len(x.shape):
        raise UnsupportedError("its indices do not fit the input", "correct the model")
    if indices.shape[-1] == 1:
        return pick(ctx, x, 0, indices.reshape(indices.shape[:-1]))
    places = slice_places(x.shape, indices)
    return pick(ctx, ctx.reshape(x, (math.prod(x.shape),)), 0, places)


def reverse(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant axes."""
    x = node.movable(0)
    axes = node.axes(1, len(x.shape))
    return take(ctx, x, {axis: (x.shape[axis] - 1, -1, x.shape[axis]) for axis in axes})


def pad(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant pads and fill value."""
    return _padded(ctx, node, PadMode.CONSTANT)


def mirror_pad(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant pads; modes REFLECT and SYMMETRIC."""
    if node.integer("Mode") == tflite.MirrorPadMode.REFLECT:
        return _padded(ctx, node, PadMode.REFLECT)
    x = node.real(0)
    pairs = _pairs(node, x)
    if any(max(pair) > size for pair, size in zip(pairs, x.shape, strict=True)):
        raise UnsupportedError("it mirrors more than the tensor", "correct the model")
    return continued(ctx, x, pairs, symmetric_places)


def tile(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant multiples; of integers along axes of length 1 only."""
    return tiled(ctx, node.movable(0), node.whole(1, "multiples"))


def broadcast_to(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant shape."""
    return expanded(ctx, node.movable(0), node.whole(1, "shape"))


def _padded(ctx: Context, node: TfliteNode, mode: PadMode) -> Tensor:
    x = node.real(0)
    value = node.real_array(2, "fill value") if node.has(2) else np.zeros(1)
    if value.size != 1:
        raise UnsupportedError(f"it pads with {value.size} numbers", "use one fill value")
    return padded(ctx, x, _pairs(node, x), mode, float(value.reshape(-1)[0]))


def _pairs(node: TfliteNode, x: Tensor) -> list[tuple[int, int]]:
    """Elements before and after, for each axis."""
    pads = node.whole(1, "pads")
    if len(pads) != 2 * len(x.shape) or min(pads, default=0) < 0:
        raise UnsupportedError(f"pads {list(pads)} do not fit the input", "correct the model")
    return list(zip(pads[::2], pads[1::2], strict=True))


def _one(numbers: tuple[int, ...]) -> tuple[int]:
    if len(numbers) != 1:
        raise UnsupportedError(f"it has {len(numbers)} axes", "use one axis")
    return (numbers[0],)


def _parts(ctx: Context, x: Tensor, axis: int, sizes: tuple[int, ...]) -> tuple[Tensor, ...]:
    if sum(sizes) != x.shape[axis] or min(sizes, default=0) < 1:
        raise UnsupportedError(
            f"parts {list(sizes)} do not make up the axis of {x.shape[axis]}", "correct the model"
        )
    starts = [sum(sizes[:i]) for i in range(len(sizes))]
    return tuple(
        take(ctx, x, {axis: (start, 1, size)}) for start, size in zip(starts, sizes, strict=True)
    )


def _inputs(node: TfliteNode) -> list[Tensor]:
    if not node.input_count:
        raise UnsupportedError("it has no inputs", "correct the model")
    return [node.movable(index) for index in range(node.input_count)]


def _joined(ctx: Context, node: TfliteNode, tensors: list[Tensor], axis: int) -> Tensor:
    constants = [tensor for tensor in tensors if isinstance(tensor, Constant)]
    if len(constants) == len(tensors):
        return Constant(node.outputs[0], _concatenated([_plain(c) for c in constants], axis))
    kinds = {t.dtype for t in tensors if isinstance(t, Value)} | {
        t.dtype for t in constants if t.quant is None
    }
    if kinds != {DType.FLOAT32}:
        raise UnsupportedError("its inputs are not all real numbers", "convert them before")
    if len(tensors) == 1:
        return tensors[0]
    return ctx.emit(ops.Concat(axis), *tensors, dtype=DType.FLOAT32)


def _plain(constant: Constant) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return constant.array if constant.quant is None else constant.real()


def _concatenated(arrays: list[np.ndarray], axis: int) -> np.ndarray:
    try:
        return np.concatenate(arrays, axis)
    except ValueError as error:
        raise UnsupportedError("its inputs do not fit each other", "correct the model") from error
