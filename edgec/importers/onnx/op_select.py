"""Operators that take parts of tensors or put tensors together."""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.importers.common.attributes import normal_axis
from edgec.importers.common.gathered import (
    continued,
    padded,
    pick,
    range_of,
    take,
    tiled,
    wrapped_places,
)
from edgec.importers.common.named import named, named_elements
from edgec.importers.common.scattered import (
    Reduction,
    check_places,
    element_places,
    scattered,
    slice_places,
)
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.ops import PadMode

KEEP_SCORES = (
    "keep the scores only, whose largest decides: "
    "onnx.utils.extract_model(model, new_model, [input], [scores])"
)


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
    if len(sizes) != count or sum(sizes) != x.shape[axis] or min(sizes) < 0:
        raise UnsupportedError(
            f"parts {list(sizes)} do not make up the axis of {x.shape[axis]}", "correct the model"
        )
    parts: list[Tensor] = []
    start = 0
    for name, size in zip(node.outputs, sizes, strict=True):
        if size:
            parts.append(take(ctx, x, {axis: (start, 1, size)}))
        else:
            # An empty part needs no computation; a Concat leaves it out.
            shape = [0 if i == axis else n for i, n in enumerate(x.shape)]
            parts.append(Constant(name, np.zeros(shape, np.float32)))
        start += size
    return tuple(parts)


def gather(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant indices, or indices of the run: into rows of a constant, or a computed tensor."""
    x, indices = node.tensor(0), node.tensor(1)
    axis = normal_axis(node.integer("axis", 0), len(x.shape))
    if isinstance(indices, Value) and isinstance(x, Value):
        return named(ctx, x, axis, indices)
    if isinstance(indices, Value):
        return _embedding(ctx, x, indices, node.integer("axis", 0))
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
    codes = table.dtype in (DType.INT8, DType.UINT8) and table.quant is None
    return ctx.emit(ops.Embedding(), ids, table, dtype=table.dtype if codes else DType.FLOAT32)


def gather_nd(ctx: Context, node: OnnxNode) -> Tensor:
    """Elements of a computed tensor by constant indices."""
    x, indices = node.value(0), node.constant(1, "indices").array
    if node.integer("batch_dims", 0):
        raise UnsupportedError("its indices differ from sample to sample", "use Slice or Gather")
    places = slice_places(x.shape, indices)
    if indices.shape[-1] == 1:
        return pick(ctx, x, 0, indices.reshape(indices.shape[:-1]))
    return pick(ctx, ctx.reshape(x, (math.prod(x.shape),)), 0, places)


def gather_elements(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant indices; one index of the run for all other axes; a constant of equal elements."""
    table, indices = node.tensor(0), node.tensor(1)
    axis = normal_axis(node.integer("axis", 0), len(table.shape))
    if isinstance(table, Value) and isinstance(indices, Value):
        return named_elements(ctx, table, axis, indices)
    if isinstance(table, Value) and isinstance(indices, Constant):
        places = element_places(table.shape, indices.array, axis)
        return pick(ctx, ctx.reshape(table, (math.prod(table.shape),)), 0, places)
    one = isinstance(table, Constant) and np.unique(table.array).size == 1
    if not isinstance(table, Constant) or not one or table.quant is not None:
        raise UnsupportedError(
            "it picks single elements at run time", "give what it computes as an input"
        )
    return Constant(table.name, np.broadcast_to(table.array.reshape(-1)[0], indices.shape))


def scatter_nd(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant indices; reductions add, mul, max and min."""
    x, indices = node.tensor(0), node.constant(1, "indices").array
    return _scattered(ctx, node, x, slice_places(x.shape, indices))


def scatter_elements(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant indices; reductions add, mul, max and min."""
    x, indices = node.tensor(0), node.constant(1, "indices").array
    axis = normal_axis(node.integer("axis", 0), len(x.shape))
    return _scattered(ctx, node, x, element_places(x.shape, indices, axis))


def _scattered(ctx: Context, node: OnnxNode, x: Tensor, places: Array) -> Tensor:
    name = node.text("reduction", "none")
    reduction = {each.value: each for each in Reduction}.get(name)
    if reduction is None:
        raise UnsupportedError(f"its reduction {name!r} is unknown", "correct the model")
    return scattered(ctx, x, places, node.tensor(2), reduction, node.outputs[0])


def center_crop_pad(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant shape."""
    x, rank = node.data_value(0), len(node.value(0).shape)
    sizes = node.ints_input(1, "shape")
    axes = [normal_axis(a, rank) for a in node.integers("axes") or range(rank)]
    if len(sizes) != len(axes) or min(sizes, default=1) < 1:
        raise UnsupportedError(f"shape {list(sizes)} does not fit {len(axes)} axes", "correct it")
    pads = [(0, 0)] * rank
    for axis, size in zip(axes, sizes, strict=True):
        more = abs(size - x.shape[axis])
        both = (more // 2, more - more // 2)
        pads[axis] = both if size > x.shape[axis] else (-both[0], -both[1])
    return padded(ctx, x, pads, PadMode.CONSTANT, 0.0)


def reverse_sequence(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant lengths, one for each sample of the batch axis."""
    x, lengths = node.value(0), node.ints_input(1, "sequence_lens")
    time, batch = node.integer("time_axis", 0), node.integer("batch_axis", 1)
    if {time, batch} != {0, 1} or len(x.shape) < 2 or len(lengths) != x.shape[batch]:
        raise UnsupportedError("its lengths do not fit the input", "correct the model")
    if not all(0 <= length <= x.shape[time] for length in lengths):
        raise UnsupportedError("a length lies outside the input", "correct the model")
    check_places(math.prod(x.shape[:2]))
    places = np.arange(math.prod(x.shape[:2])).reshape(x.shape[:2])
    by_sample = places if batch == 0 else places.T
    for sample, length in zip(by_sample, lengths, strict=True):
        sample[:length] = sample[:length][::-1].copy()
    return pick(ctx, ctx.reshape(x, (places.size, *x.shape[2:])), 0, places)


def tile(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant repeats; of integers along axes of length 1 only."""
    return tiled(ctx, node.tensor(0), node.ints_input(1, "repeats"))


def array_features(ctx: Context, node: OnnxNode) -> Tensor:
    """The label of a class by its number, which stands for it; or constant columns of a row."""
    index = node.tensor(1)
    if isinstance(index, Value):
        # A label may be any number or text: the output is the number of its class.
        if index.dtype is not DType.INT32 or not (_counts(node) or node.leads_to_outputs()):
            raise UnsupportedError("a label is computed with", KEEP_SCORES)
        return ctx.reshape(index, (1, math.prod(index.shape)))
    x = node.real_value(0)
    return pick(ctx, x, len(x.shape) - 1, np.asarray(node.ints_input(1, "columns")))


def _counts(node: OnnxNode) -> bool:
    """Whether the labels are 0, 1, 2, ..., what ArgMax gives."""
    labels = node.known(0)
    found = [] if not isinstance(labels, Constant) else labels.array.reshape(-1).tolist()
    return bool(found) and found == list(range(len(found)))


def concat(ctx: Context, node: OnnxNode) -> Tensor:
    """Along any axis; float constants allowed among the inputs."""
    tensors = [node.tensor(i) for i in range(node.input_count)]
    axis = normal_axis(node.integer("axis", 1), len(tensors[0].shape))
    tensors = [tensor for tensor in tensors if 0 not in tensor.shape]
    if all(isinstance(t, Constant) for t in tensors):
        raise UnsupportedError("all inputs are constants", "fold constants before the export")
    kinds = {t.dtype for t in tensors if not (isinstance(t, Constant) and t.quant is not None)}
    if len(kinds) > 1 or (
        DType.FLOAT32 not in kinds and any(isinstance(t, Constant) for t in tensors)
    ):
        raise UnsupportedError("its inputs mix floats and integers", "dequantize them before")
    if len(tensors) == 1:
        return tensors[0]
    if DType.INT32 in kinds:
        raise UnsupportedError(
            "it joins integers of the run", "make each of them an output of its own"
        )
    dtype = next(iter(kinds)) if kinds else DType.FLOAT32
    return ctx.emit(ops.Concat(axis), *tensors, dtype=dtype)


def pad(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant pads; modes constant, reflect, edge and wrap; negative pads crop."""
    x, text = node.data_value(0), node.text("mode", "constant")
    mode = {mode.value: mode for mode in PadMode}.get(text)
    if mode is None and text != "wrap":
        raise UnsupportedError(
            f"its mode {text!r} is unknown", "use constant, reflect, edge or wrap"
        )
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
    if mode is None:
        return continued(ctx, x, both, wrapped_places)
    return padded(ctx, x, both, mode, value)
