"""Operators that only rename or reorder elements; they also carry integer codes and constants."""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import DType
from edgec.importers.common.attributes import completed, normal_axis
from edgec.importers.common.masks import to_bool
from edgec.importers.common.pins import Pin
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.importers.onnx.weight_pools import float_constant
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.qparams import QuantParams


def reshape(ctx: Context, node: OnnxNode) -> Tensor:
    """Shape known after folding; 0, -1 and allowzero."""
    x = node.tensor(0)
    wanted = list(node.ints_input(1, "shape"))
    if not node.flag("allowzero", False):
        if any(dim == 0 and i >= len(x.shape) for i, dim in enumerate(wanted)):
            raise UnsupportedError(f"shape {wanted} copies a dimension that is not there", "fix it")
        wanted = [x.shape[i] if dim == 0 else dim for i, dim in enumerate(wanted)]
    return ctx.reshape(x, completed(wanted, x.shape))


def shape(_ctx: Context, node: OnnxNode) -> Tensor:
    """Axes from start to end; its readers are computed at import."""
    whole = node.tensor(0).shape
    dims = whole[slice(node.integer("start", 0), node.integer("end", len(whole)))]
    return Constant(node.outputs[0], np.asarray(dims, np.int64))


def size(_ctx: Context, node: OnnxNode) -> Tensor:
    """Its readers are computed at import."""
    return Constant(node.outputs[0], np.asarray(math.prod(node.tensor(0).shape), np.int64))


def flatten(ctx: Context, node: OnnxNode) -> Tensor:
    """Any axis."""
    x = node.tensor(0)
    axis = normal_axis(node.integer("axis", 1), len(x.shape), end_allowed=True)
    return ctx.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


def squeeze(ctx: Context, node: OnnxNode) -> Tensor:
    """Axes as attribute or constant input; all axes of length 1 by default."""
    x = node.tensor(0)
    given = node.axes_input("axes", 1)
    rank = len(x.shape)
    axes = {normal_axis(a, rank) for a in given} if given is not None else set(range(rank))
    if given is not None and any(x.shape[a] != 1 for a in axes):
        raise UnsupportedError(f"axes {list(given)} are not all of length 1", "correct the model")
    return ctx.reshape(x, [d for i, d in enumerate(x.shape) if i not in axes or d != 1])


def unsqueeze(ctx: Context, node: OnnxNode) -> Tensor:
    """Axes as attribute or constant input."""
    x = node.tensor(0)
    given = node.axes_input("axes", 1) or ()
    rank = len(x.shape) + len(given)
    axes = {normal_axis(a, rank) for a in given}
    if len(axes) != len(given):
        raise UnsupportedError(f"axes {list(given)} repeat", "correct the model")
    rest = iter(x.shape)
    return ctx.reshape(x, [1 if i in axes else next(rest) for i in range(rank)])


def transpose(ctx: Context, node: OnnxNode) -> Tensor:
    """Any permutation."""
    x = node.tensor(0)
    perm = node.integers("perm") or tuple(reversed(range(len(x.shape))))
    if sorted(perm) != list(range(len(x.shape))):
        raise UnsupportedError(f"perm {list(perm)} is no permutation", "correct the model")
    return ctx.transpose(x, perm)


def depth_to_space(ctx: Context, node: OnnxNode) -> Tensor:
    """Modes DCR and CRD."""
    x, block = node.value(0), node.integer("blocksize", 1)
    n, c, h, w = _image(x)
    mode = node.text("mode", "DCR")
    if block < 1 or c % (block * block) or mode not in ("DCR", "CRD"):
        raise UnsupportedError(f"blocksize {block} or mode {mode!r} does not fit", "correct it")
    rest = c // (block * block)
    nhwc = ctx.transpose(x, (0, 2, 3, 1))
    if mode == "DCR":
        blocks = ctx.reshape(nhwc, (n, h, w, block, block, rest))
        moved = ctx.transpose(blocks, (0, 1, 3, 2, 4, 5))
    else:
        blocks = ctx.reshape(nhwc, (n, h, w, rest, block, block))
        moved = ctx.transpose(blocks, (0, 1, 4, 2, 5, 3))
    return ctx.transpose(ctx.reshape(moved, (n, h * block, w * block, rest)), (0, 3, 1, 2))


def space_to_depth(ctx: Context, node: OnnxNode) -> Tensor:
    """Height and width divisible by blocksize; modes DCR and CRD."""
    x, block = node.value(0), node.integer("blocksize", 1)
    n, c, h, w = _image(x)
    mode = node.text("mode", "DCR")
    if block < 1 or h % block or w % block or mode not in ("DCR", "CRD"):
        raise UnsupportedError(
            f"blocksize {block} does not divide {h}x{w}, or {mode!r} is no mode", "correct it"
        )
    nhwc = ctx.transpose(x, (0, 2, 3, 1))
    blocks = ctx.reshape(nhwc, (n, h // block, block, w // block, block, c))
    moved = ctx.transpose(blocks, (0, 1, 3, 2, 4, 5) if mode == "DCR" else (0, 1, 3, 5, 2, 4))
    flat = ctx.reshape(moved, (n, h // block, w // block, block * block * c))
    return ctx.transpose(flat, (0, 3, 1, 2))


def identity(_ctx: Context, node: OnnxNode) -> Tensor:
    """Any tensor; the node is removed."""
    return node.tensor(0)


def dropout(_ctx: Context, node: OnnxNode) -> Tensor:
    """Inference mode; the node is removed."""
    if node.is_used(1):
        raise UnsupportedError("its mask output is used", "export the model for inference")
    if node.has(2) and any(node.ints_input(2, "training_mode")):
        raise UnsupportedError("it is in training mode", "export the model for inference")
    return node.tensor(0)


def cast(ctx: Context, node: OnnxNode) -> Tensor:
    """Between floats; 8-bit pixels to floats; other inputs, ArgMax indices, masks and shapes."""
    x, to = node.tensor(0), node.integer("to", 0)
    if isinstance(x, Constant):
        if to not in _FLOATS:
            raise UnsupportedError("its input is a constant", "fold constants before the export")
        return float_constant(x)
    if to in _FLOATS and x.dtype in (DType.INT8, DType.UINT8):
        # Numbers that are cast are codes of the scale 1.
        ctx.pins.append(Pin(x.name, QuantParams.per_tensor(1.0, 0, x.dtype), node.name))
        return ctx.emit(ops.DequantizeLinear(), x, dtype=DType.FLOAT32)
    if to in _FLOATS and x.dtype is DType.FLOAT32:
        return x
    if to == _BOOL and x.dtype in (DType.FLOAT32, DType.INT32):
        return to_bool(ctx, x)
    if x.dtype is DType.INT32:
        # An index stays int32 on the target, even where scikit-learn passes it through float.
        if to in _INDICES or (to in _FLOATS and _is_arg_max(ctx, x)):
            return x
        if to in _FLOATS:
            return ctx.emit(ops.Cast(), x, dtype=DType.FLOAT32)
    raise UnsupportedError(
        f"it converts {x.dtype.value} numbers to another kind", "leave such conversions out"
    )


_FLOATS = (1, 11)
"""The numbers of FLOAT and DOUBLE in ONNX (TensorProto); `widen` leaves no others."""
_INDICES = (6, 7)
"""The numbers of INT32 and INT64."""
_BOOL = 9
"""The number of BOOL."""


def _is_arg_max(ctx: Context, x: Value) -> bool:
    made = ctx.producer(x)
    while made is not None and isinstance(made.attrs, ops.Reshape | ops.Transpose):
        made = ctx.producer(ctx.builder.values[made.first])
    return made is not None and isinstance(made.attrs, ops.ArgMax)


def _image(x: Tensor) -> tuple[int, int, int, int]:
    if len(x.shape) != 4:
        raise UnsupportedError(f"the input has {len(x.shape)} dimensions, not 4", "reshape it")
    n, c, h, w = x.shape
    return n, c, h, w
