"""Operators that only rename or reorder elements, and shapes as numbers.

Whole numbers that are known at import: the arithmetic of shapes that converters leave in a file.

Keras writes it for every Dense layer of more than two dimensions with an open batch: the input is
reshaped to rows by products of its dimensions.  With the batch fixed to one, all of it is constant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgec.base.dtypes import DType
from edgec.importers.common.attributes import completed, normal_axis
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.tflite.attributes import image_sizes
from edgec.importers.tflite.context import Context
from edgec.importers.tflite.node import TfliteNode
from edgec.ir import ops
from edgec.ir.graph import Constant


def reshape(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant shape, as input or attribute; -1."""
    x = node.movable(0)
    wanted = node.whole(1, "shape") if node.has(1) else node.integers("NewShape")
    return ctx.reshape(x, completed(wanted, x.shape))


def squeeze(ctx: Context, node: TfliteNode) -> Tensor:
    """Any axes of length 1; all of them by default."""
    x = node.movable(0)
    given = node.integers("SqueezeDims")
    axes = {normal_axis(axis, len(x.shape)) for axis in given}
    if any(x.shape[axis] != 1 for axis in axes):
        raise UnsupportedError(f"axes {list(given)} are not all of length 1", "correct the model")
    kept = [s for i, s in enumerate(x.shape) if s != 1 or (bool(given) and i not in axes)]
    return ctx.reshape(x, kept)


def expand_dims(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant axis."""
    x, axes = node.movable(0), node.whole(1, "axis")
    if len(axes) != 1:
        raise UnsupportedError(f"it has {len(axes)} axes", "use one axis")
    axis = normal_axis(axes[0], len(x.shape) + 1)
    return ctx.reshape(x, (*x.shape[:axis], 1, *x.shape[axis:]))


def transpose(ctx: Context, node: TfliteNode) -> Tensor:
    """Any constant permutation."""
    x = node.movable(0)
    perm = [axis + len(x.shape) if axis < 0 else axis for axis in node.whole(1, "permutation")]
    if sorted(perm) != list(range(len(x.shape))):
        raise UnsupportedError(f"{perm} is no permutation", "correct the model")
    return ctx.transpose(x, perm)


def shape(_ctx: Context, node: TfliteNode) -> Tensor:
    """Always known; becomes a constant."""
    return Constant(node.outputs[0], np.asarray(node.tensor(0).shape, np.int32))


def depth_to_space(ctx: Context, node: TfliteNode) -> Tensor:
    """Channels divisible by the square of the block size."""
    x, block = node.real(0), node.integer("BlockSize")
    height, width = image_sizes(x.shape)
    if block < 1 or x.shape[3] % (block * block):
        raise UnsupportedError(f"a block size of {block} does not fit", "correct the model")
    rest = x.shape[3] // (block * block)
    blocks = ctx.reshape(x, (x.shape[0], height, width, block, block, rest))
    moved = ctx.transpose(blocks, (0, 1, 3, 2, 4, 5))
    return ctx.reshape(moved, (x.shape[0], height * block, width * block, rest))


def space_to_depth(ctx: Context, node: TfliteNode) -> Tensor:
    """Height and width divisible by the block size."""
    x, block = node.real(0), node.integer("BlockSize")
    height, width = image_sizes(x.shape)
    if block < 1 or height % block or width % block:
        raise UnsupportedError(f"a block size of {block} does not fit", "correct the model")
    rows, columns, channels = height // block, width // block, x.shape[3]
    blocks = ctx.reshape(x, (x.shape[0], rows, block, columns, block, channels))
    moved = ctx.transpose(blocks, (0, 1, 3, 2, 4, 5))
    return ctx.reshape(moved, (x.shape[0], rows, columns, block * block * channels))


def space_to_batch_nd(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant blocks and pads; around a convolution it is its dilation."""
    blocks, pads = _blocks(node, "pads")
    return ctx.emit(ops.SpaceToBatch(blocks, pads), node.real(0))


def batch_to_space_nd(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant blocks and crops; around a convolution it is its dilation."""
    blocks, crops = _blocks(node, "crops")
    return ctx.emit(ops.BatchToSpace(blocks, crops), node.real(0))


def _blocks(node: TfliteNode, what: str) -> tuple[tuple[int, ...], tuple[tuple[int, int], ...]]:
    blocks, flat = node.whole(1, "block sizes"), node.whole(2, what)
    if len(flat) != 2 * len(blocks) or min((*blocks, 1)) < 1 or min((*flat, 0)) < 0:
        raise UnsupportedError(f"its block sizes and {what} do not fit", "correct the model")
    return blocks, tuple(zip(flat[::2], flat[1::2], strict=True))


def quantize(ctx: Context, node: TfliteNode) -> Tensor:
    """From float32, or to another scale, int8 or uint8."""
    if node.value(0).dtype is DType.FLOAT32:
        return ctx.stored(node.value(0), node.output_number, in_float32=True)
    # Codes of it are made where the output is stored.
    return node.real(0)


def dequantize(_ctx: Context, node: TfliteNode) -> Tensor:
    """To float32, of codes and of float16 constants."""
    found = node.operand(0)
    if isinstance(found, Constant) and found.quant is not None:
        return Constant(node.outputs[0], found.real())
    return found


def densify(_ctx: Context, node: TfliteNode) -> Tensor:
    """Weights that the file stores without their zeros, in any order of axes and blocks."""
    return node.tensor(0)


def fill(_ctx: Context, node: TfliteNode) -> Tensor:
    """Constant shape and value."""
    shape, value = node.whole(0, "shape"), node.constant(1, "value")
    if min(shape, default=1) < 1 or math.prod(shape) > MAX_FILLED or value.array.size != 1:
        raise UnsupportedError(f"it fills {list(shape)}", "correct the model")
    array = np.full(shape, value.array.reshape(()), value.array.dtype)
    return Constant(node.outputs[0], array, value.quant)


MAX_FILLED = 1 << 20
"""Most elements of a constant of one number."""


def cast(ctx: Context, node: TfliteNode) -> Tensor:
    """Between kinds of whole numbers, and from these to float32."""
    found, wanted = node.tensor(0), node.output_dtype
    if isinstance(found, Constant):
        if found.quant is not None or (found.dtype is DType.FLOAT32 and wanted is DType.INT32):
            raise UnsupportedError("its input is a constant", "convert with constants folded")
        return Constant(node.outputs[0], found.array.astype(wanted.numpy))
    if found.dtype is wanted:
        return found
    if found.dtype is DType.INT32 and wanted is DType.FLOAT32:
        return ctx.emit(ops.Cast(), found, dtype=wanted)
    raise UnsupportedError(
        f"it converts {found.dtype.value} to {wanted.value}", "leave such conversions out"
    )


MAX_COMPUTED = 1 << 16
"""Most elements of a result; shapes, axes and positions are far smaller."""

_Whole = NDArray[np.signedinteger[Any]]
_BINARY: Mapping[str, Callable[[_Whole, _Whole], Any]] = MappingProxyType(
    {
        "ADD": np.add,
        "FLOOR_DIV": np.floor_divide,
        "FLOOR_MOD": np.mod,
        "MAXIMUM": np.maximum,
        "MINIMUM": np.minimum,
        "MUL": np.multiply,
        "SUB": np.subtract,
    }
)
_REDUCTIONS: Mapping[str, Any] = MappingProxyType(
    {"REDUCE_MAX": np.max, "REDUCE_MIN": np.min, "REDUCE_PROD": np.prod, "SUM": np.sum}
)


def computed(node: TfliteNode) -> Constant | None:
    """Compute an operator whose inputs are all whole numbers known at import.

    Returns:
        A constant of the inputs' element type, with wrap-around, as the interpreter computes it;
        None for another operator, or where an input is no such number.

    Raises:
        UnsupportedError: the inputs do not fit the operator.
        UnknownTensorError: an unsupported operator computes an input.
    """
    if node.op not in _BINARY and node.op not in _REDUCTIONS:
        return None
    inputs = [node.tensor(index) for index in range(node.input_count)]
    arrays = [t.array for t in inputs if isinstance(t, Constant) and t.quant is None]
    if len(arrays) != 2 or len(inputs) != 2 or any(a.dtype.kind != "i" for a in arrays):
        return None
    array = _reduced(node, *arrays) if node.op in _REDUCTIONS else _of_two(node.op, *arrays)
    return Constant(node.outputs[0], np.asarray(array, arrays[0].dtype))


def _of_two(op: str, a: _Whole, b: _Whole) -> Any:
    try:
        size = math.prod(np.broadcast_shapes(a.shape, b.shape))
    except ValueError as error:
        raise UnsupportedError("its inputs do not fit each other", "correct the model") from error
    if size > MAX_COMPUTED:
        raise UnsupportedError(f"it computes {size} whole numbers", "convert with them folded")
    if op in ("FLOOR_DIV", "FLOOR_MOD") and not b.all():
        raise UnsupportedError("it divides by zero", "correct the model")
    return _BINARY[op](a, b)


def _reduced(node: TfliteNode, x: _Whole, axes: _Whole) -> Any:
    which = tuple(sorted({normal_axis(int(axis), x.ndim) for axis in axes.reshape(-1)}))
    if node.op in ("REDUCE_MAX", "REDUCE_MIN") and not x.size:
        raise UnsupportedError("it reduces nothing", "correct the model")
    keep = bool(node.integer("KeepDims"))
    if node.op in ("REDUCE_MAX", "REDUCE_MIN"):
        return _REDUCTIONS[node.op](x, axis=which, keepdims=keep)
    return _REDUCTIONS[node.op](x, axis=which, keepdims=keep, dtype=x.dtype)
