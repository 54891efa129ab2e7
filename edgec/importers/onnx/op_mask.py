"""Integers that a network computes with: masks made of them, and the choice between tensors.

Booleans and integers are int32 in the graph; false is 0.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.base.dtypes import DType
from edgec.importers.common.tensors import Tensor, UnsupportedError, require_real
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.node import OnnxNode
from edgec.importers.onnx.op_elementwise import finite
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.ops import UnaryKind

_NOT = ops.Unary(UnaryKind.NOT)
_MOST_NUMBER = 1 << 24
"""Integers that a float holds exactly."""


def where(ctx: Context, node: OnnxNode) -> Tensor:
    """The condition is a constant or a mask of integers; numpy broadcasting."""
    condition, *choices = (node.tensor(index) for index in range(3))
    a, b = (_choice(choice) for choice in choices)
    if isinstance(condition, Constant):
        truth = condition.array.astype(bool)
        if not truth.any() or truth.all():
            chosen, other = (a, b) if truth.all() else (b, a)
            shape = _common_shape(condition.shape, chosen.shape, other.shape)
            return broadcast(ctx, chosen, shape)
        condition = Constant(condition.name, truth.astype(np.float32))
    elif condition.dtype is not DType.INT32:
        raise UnsupportedError("its condition is no mask", "use a boolean or integer input")
    return ctx.emit(ops.Where(), condition, a, b, dtype=DType.FLOAT32)


def not_(ctx: Context, node: OnnxNode) -> Tensor:
    """The operand is a mask."""
    return ctx.emit(_NOT, _mask(node, 0))


def equal(ctx: Context, node: OnnxNode) -> Tensor:
    """Integers or booleans compared with one constant number."""
    index = 1 if isinstance(node.tensor(0), Constant) else 0
    x, number = _mask(node, index), node.constant(1 - index, "second operand").array
    first = number.reshape(-1)[0] if number.size else 0
    whole = number.size > 0 and number.dtype.kind in "iub"
    if not whole or not bool((number == first).all()):
        raise UnsupportedError("it compares with more than a number", "give the mask as an input")
    if abs(int(first)) > _MOST_NUMBER:
        raise UnsupportedError(f"it compares with {int(first)}", "use numbers below 2^24")
    isolated = number.dtype == np.bool_ and bool(first)
    y = x if isolated else ctx.emit(replace(_NOT, alpha=float(first)), x)
    return broadcast(ctx, y, _common_shape(x.shape, number.shape))


def and_(ctx: Context, node: OnnxNode) -> Tensor:
    """Each operand is a mask or a constant."""
    return _combined(ctx, node, absorbing=False)


def or_(ctx: Context, node: OnnxNode) -> Tensor:
    """Each operand is a mask or a constant."""
    return _combined(ctx, node, absorbing=True)


def _combined(ctx: Context, node: OnnxNode, absorbing: bool) -> Tensor:
    """And (`absorbing` false) and Or of two masks: where one has that value, so has the result."""
    a, b = (node.tensor(index) for index in (0, 1))
    if isinstance(a, Constant):
        a, b = b, a
    if isinstance(a, Constant):
        raise UnsupportedError("both operands are constants", "fold constants before the export")
    shape = _common_shape(a.shape, b.shape)
    mask = require_mask(a)
    if isinstance(b, Constant):
        truth = b.array.astype(bool)
        if (truth == absorbing).all():
            return Constant(b.name, np.broadcast_to(truth, shape))
        if (truth != absorbing).all():
            return broadcast(ctx, mask, shape)
        other: Tensor = Constant(b.name, truth.astype(np.float32))
    else:
        other = ctx.emit(ops.Cast(), require_mask(b), dtype=DType.FLOAT32)
    fixed = Constant(f"{node.name}/fixed", np.asarray(float(absorbing), np.float32))
    choices = (fixed, other) if absorbing else (other, fixed)
    return to_bool(ctx, ctx.emit(ops.Where(), mask, *choices, dtype=DType.FLOAT32))


def to_bool(ctx: Context, x: Value) -> Tensor:
    """X as 0 (where x is zero) and 1; x may hold real numbers."""
    made = ctx.producer(x)
    if made is not None and made.attrs == _NOT:
        return x
    return ctx.emit(_NOT, ctx.emit(_NOT, x, dtype=DType.INT32))


def is_nan(_ctx: Context, node: OnnxNode) -> Tensor:
    """Always false, as the numbers of a quantized network are finite."""
    return Constant(node.outputs[0], np.zeros((1,) * len(node.real_value(0).shape), np.bool_))


def expand(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant shape; numpy broadcasting."""
    x = node.value(0)
    wanted = node.ints_input(1, "shape")
    if min(wanted, default=1) < 1:
        raise UnsupportedError(f"shape {list(wanted)} is impossible", "correct the model")
    return broadcast(ctx, x, _common_shape(x.shape, wanted))


def _common_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        shown = " and ".join(str(list(shape)) for shape in shapes)
        raise UnsupportedError(f"{shown} do not broadcast", "correct the model") from error


def broadcast(ctx: Context, x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """X repeated to `shape`; of a constant at once."""
    if x.shape == shape:
        return x
    if isinstance(x, Constant):
        return Constant(x.name, np.broadcast_to(x.real(), shape))
    return ctx.emit(ops.Expand(shape), x)


def _mask(node: OnnxNode, index: int) -> Value:
    return require_mask(node.value(index))


def require_mask(x: Value) -> Value:
    """X, if it holds integers.

    Raises:
        UnsupportedError: it holds reals.
    """
    if x.dtype is not DType.INT32:
        raise UnsupportedError("its input is no mask", "use a boolean or integer input")
    return x


def _choice(choice: Tensor) -> Tensor:
    if isinstance(choice, Value):
        return require_real(choice)
    if choice.quant is None and choice.dtype is not DType.FLOAT32:
        raise UnsupportedError("it chooses between integers", "compute on floats")
    return finite(choice)
