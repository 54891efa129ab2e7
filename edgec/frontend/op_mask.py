"""Integers that a network computes with: masks made of them, and the choice between tensors.

Booleans and integers are int32 in the graph; false is 0.
"""

from __future__ import annotations

import numpy as np

from edgec.dtypes import DType
from edgec.frontend.context import Context
from edgec.frontend.onnx_node import OnnxNode
from edgec.frontend.op_elementwise import finite
from edgec.frontend.tensors import Tensor, UnsupportedError, require_real
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.ops import UnaryKind

_NOT = ops.Unary(UnaryKind.NOT)


def where(ctx: Context, node: OnnxNode) -> Tensor:
    """Condition constant or a mask of integers; numpy broadcasting."""
    condition, *choices = (node.tensor(index) for index in range(3))
    a, b = (_choice(choice) for choice in choices)
    if isinstance(condition, Constant):
        truth = condition.array.astype(bool)
        if not truth.any() or truth.all():
            chosen, other = (a, b) if truth.all() else (b, a)
            shape = np.broadcast_shapes(condition.shape, chosen.shape, other.shape)
            return broadcast(ctx, chosen, shape)
        condition = Constant(condition.name, truth.astype(np.float32))
    elif condition.dtype is not DType.INT32:
        raise UnsupportedError("its condition is no mask", "use a boolean or integer input")
    return ctx.emit(ops.Where(), condition, a, b, dtype=DType.FLOAT32)


def not_(ctx: Context, node: OnnxNode) -> Tensor:
    """Of masks."""
    return ctx.emit(_NOT, _mask(node, 0))


def equal(ctx: Context, node: OnnxNode) -> Tensor:
    """Of integers with the constant 0, or of booleans with a constant."""
    x, number = _mask(node, 0), node.constant(1, "second operand").array
    same = bool((number == number.reshape(-1)[0]).all()) if number.size else False
    if same and not number.reshape(-1)[0]:
        y = ctx.emit(_NOT, x)
    elif same and number.dtype == np.bool_:
        y = x
    else:
        raise UnsupportedError("it compares with numbers other than 0", "give the mask as an input")
    return broadcast(ctx, y, np.broadcast_shapes(x.shape, number.shape))


def to_bool(ctx: Context, x: Value) -> Tensor:
    """X as 0 and 1; reals, too."""
    made = ctx.producer(x)
    if made is not None and made.attrs == _NOT:
        return x
    return ctx.emit(_NOT, ctx.emit(_NOT, x, dtype=DType.INT32))


def is_nan(ctx: Context, node: OnnxNode) -> Tensor:
    """False: the numbers of a quantized network are finite."""
    return Constant(node.outputs[0], np.zeros((1,) * len(node.real_value(0).shape), np.bool_))


def expand(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant shape; numpy broadcasting."""
    x = node.value(0)
    wanted = node.ints_input(1, "shape")
    if min(wanted, default=1) < 1:
        raise UnsupportedError(f"shape {list(wanted)} is impossible", "correct the model")
    try:
        shape = np.broadcast_shapes(x.shape, wanted)
    except ValueError as error:
        raise UnsupportedError(f"{list(x.shape)} does not broadcast", "correct it") from error
    return broadcast(ctx, x, shape)


def broadcast(ctx: Context, x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """X repeated to `shape`; of a constant at once."""
    if x.shape == shape:
        return x
    if isinstance(x, Constant):
        return Constant(x.name, np.broadcast_to(x.real(), shape))
    return ctx.emit(ops.Expand(shape), x)


def _mask(node: OnnxNode, index: int) -> Value:
    x = node.value(index)
    if x.dtype is not DType.INT32:
        raise UnsupportedError("its input is no mask", "use a boolean or integer input")
    return x


def _choice(choice: Tensor) -> Tensor:
    if isinstance(choice, Value):
        return require_real(choice)
    if choice.quant is None and choice.dtype is not DType.FLOAT32:
        raise UnsupportedError("it chooses between integers", "compute on floats")
    return finite(choice)
