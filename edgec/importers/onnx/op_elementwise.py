"""Element functions of one and two variables, and Softmax."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from edgec.base.dtypes import DType
from edgec.importers.common.axes import normal_axis
from edgec.importers.common.tensors import Tensor, UnsupportedError, require_real
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.node import OnnxNode
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.ops import UnaryKind


def add(ctx: Context, node: OnnxNode) -> Tensor:
    """Numpy broadcasting; either operand may be constant."""
    return ctx.emit(ops.Add(), *(finite(operand) for operand in _operands(node)))


def sub(ctx: Context, node: OnnxNode) -> Tensor:
    """Numpy broadcasting; either operand may be constant."""
    return _binary(ctx, node, ops.Sub())


def mul(ctx: Context, node: OnnxNode) -> Tensor:
    """Numpy broadcasting; either operand may be constant."""
    a, b = _operand(node, 0), _operand(node, 1)
    if isinstance(a, Constant) and isinstance(b, Constant):
        return ctx.pools.product(a, b)
    return ctx.emit(ops.Mul(), a, b)


def div(ctx: Context, node: OnnxNode) -> Tensor:
    """Numpy broadcasting; a constant divisor has no zeros."""
    dividend, divisor = _operands(node)
    if isinstance(divisor, Constant):
        real = divisor.real()
        if not np.all(real):
            raise UnsupportedError("it divides by zero", "correct the model")
        factor = Constant(divisor.name, (1.0 / real.astype(np.float64)).astype(np.float32))
        return ctx.emit(ops.Mul(), dividend, factor)
    inverse = ctx.emit(ops.Unary(UnaryKind.RECIPROCAL), divisor)
    if isinstance(dividend, Constant) and dividend.real().tolist() in (1.0, [1.0]):
        return inverse
    return ctx.emit(ops.Mul(), dividend, inverse)


def power(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant exponent, one number."""
    x, exponent = node.real_value(0), node.float_input(1, "exponent")
    if exponent == 1.0:
        return x
    if exponent == 0.5:
        return ctx.emit(ops.Unary(UnaryKind.SQRT), x)
    if exponent == -0.5:
        return ctx.emit(ops.Unary(UnaryKind.RECIPROCAL), ctx.emit(ops.Unary(UnaryKind.SQRT), x))
    if not math.isfinite(exponent):
        raise UnsupportedError("its exponent is not finite", "correct the model")
    return ctx.emit(ops.Unary(UnaryKind.POW, alpha=exponent), x)


def scaler(ctx: Context, node: OnnxNode) -> Tensor:
    """scikit-learn's StandardScaler: (x - offset) * scale, one number or one per feature."""
    x = node.real_value(0)
    # Attributes have no names that other tensors could not have as well.
    offset, scale = (
        Constant(f"{node.name}/{part}", np.asarray(node.numbers(part) or default, np.float32))
        for part, default in (("offset", (0.0,)), ("scale", (1.0,)))
    )
    for part in (offset, scale):
        if part.array.size not in (1, x.shape[-1]):
            raise UnsupportedError(
                f"{part.array.size} numbers do not fit {x.shape[-1]} features", "correct the model"
            )
    return ctx.emit(ops.Mul(), ctx.emit(ops.Sub(), x, offset), scale)


def variadic_sum(ctx: Context, node: OnnxNode) -> Tensor:
    """Any number of inputs, numpy broadcasting."""
    total = _operand(node, 0)
    for index in range(1, node.input_count):
        total = ctx.emit(ops.Add(), total, _operand(node, index))
    if isinstance(total, Constant):
        raise UnsupportedError("its input is a constant", "fold constants before the export")
    return total


def relu(ctx: Context, node: OnnxNode) -> Tensor:
    """Any shape."""
    return ctx.emit(ops.Clip(0.0, math.inf), node.real_value(0))


def clip(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant bounds, as attributes (opset < 11) or inputs; Relu6 is Clip(0, 6)."""
    if node.opset < 11:
        low, high = node.number("min", -math.inf), node.number("max", math.inf)
    else:
        low = node.float_input(1, "min") if node.has(1) else -math.inf
        high = node.float_input(2, "max") if node.has(2) else math.inf
    return _clip(ctx, node.real_value(0), low, high)


def minimum(ctx: Context, node: OnnxNode) -> Tensor:
    """One computed value and one constant number."""
    x, bound = _value_and_number(node)
    return _clip(ctx, x, -math.inf, bound)


def maximum(ctx: Context, node: OnnxNode) -> Tensor:
    """One computed value and one constant number."""
    x, bound = _value_and_number(node)
    return _clip(ctx, x, bound, math.inf)


def unary(ctx: Context, node: OnnxNode) -> Tensor:
    """Any shape."""
    return ctx.emit(ops.Unary(UnaryKind(node.op)), node.real_value(0))


def leaky_relu(ctx: Context, node: OnnxNode) -> Tensor:
    """Any shape."""
    return _unary(ctx, node, UnaryKind.LEAKY_RELU, alpha=0.01)


def elu(ctx: Context, node: OnnxNode) -> Tensor:
    """Any shape."""
    return _unary(ctx, node, UnaryKind.ELU, alpha=1.0)


def hard_sigmoid(ctx: Context, node: OnnxNode) -> Tensor:
    """Any shape."""
    return _unary(ctx, node, UnaryKind.HARD_SIGMOID, alpha=0.2, beta=0.5)


def gelu(ctx: Context, node: OnnxNode) -> Tensor:
    """Any shape; approximate none or tanh."""
    kinds = {"none": UnaryKind.GELU, "tanh": UnaryKind.GELU_TANH}
    kind = kinds.get(node.text("approximate", "none"))
    if kind is None:
        raise UnsupportedError("its approximation is unknown", "use approximate none or tanh")
    return ctx.emit(ops.Unary(kind), node.real_value(0))


def prelu(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant slope, one number or one per channel of one axis."""
    x, slope = node.real_value(0), node.real_array(1, "slope")
    if slope.size == 1:
        alpha = float(slope.reshape(-1)[0])
        return ctx.emit(ops.Unary(UnaryKind.LEAKY_RELU, alpha=alpha), x)
    offset = len(x.shape) - slope.ndim
    axes = [axis + offset for axis, size in enumerate(slope.shape) if size != 1]
    if len(axes) != 1 or offset < 0:
        raise UnsupportedError(
            f"the slope {list(slope.shape)} varies along several axes", "use a slope per channel"
        )
    per_channel = Constant(node.input_name(1), slope.reshape(-1))
    y = ctx.emit(ops.PRelu(), ctx.axis_last(x, axes[0]), per_channel)
    return ctx.axis_back(y, axes[0])


def softmax(ctx: Context, node: OnnxNode) -> Tensor:
    """Any axis; before opset 13 over all axes from `axis` on, as ONNX defined it then."""
    x = node.real_value(0)
    rank = len(x.shape)
    axis = normal_axis(node.integer("axis", -1 if node.opset >= 13 else 1), rank, node.opset < 13)
    if node.opset >= 13:
        y: Tensor = ctx.emit(ops.Softmax(), ctx.axis_last(x, axis))
        return ctx.axis_back(y, axis)
    rows = math.prod(x.shape[:axis])
    flat = ctx.reshape(x, (rows, math.prod(x.shape[axis:]))) if axis != rank - 1 else x
    return ctx.reshape(ctx.emit(ops.Softmax(), flat), x.shape)


def finite(operand: Tensor) -> Tensor:
    """An operand; minus infinity in a constant, which masks keys, becomes the lowest float."""
    if isinstance(operand, Constant) and np.isneginf(operand.array).any():
        lowest = np.finfo(np.float32).min
        return Constant(operand.name, np.maximum(operand.array, lowest), operand.quant)
    return operand


def _binary(ctx: Context, node: OnnxNode, attrs: Any) -> Tensor:
    return ctx.emit(attrs, *_operands(node))


def _operands(node: OnnxNode) -> tuple[Tensor, Tensor]:
    a, b = _operand(node, 0), _operand(node, 1)
    if isinstance(a, Constant) and isinstance(b, Constant):
        raise UnsupportedError("both operands are constants", "fold constants before the export")
    return a, b


def _operand(node: OnnxNode, index: int) -> Tensor:
    """A real input, constant or not."""
    found = node.tensor(index)
    if isinstance(found, Value):
        return require_real(found)
    if found.quant is None and found.dtype is not DType.FLOAT32:
        raise UnsupportedError("an operand holds integers", "compute on floats")
    return found


def _unary(
    ctx: Context, node: OnnxNode, kind: UnaryKind, alpha: float = 0.0, beta: float = 0.0
) -> Tensor:
    """An element function; `alpha` and `beta` are ONNX's defaults of the attributes."""
    attrs = ops.Unary(kind, node.number("alpha", alpha), node.number("beta", beta))
    return ctx.emit(attrs, node.real_value(0))


def _clip(ctx: Context, x: Value, low: float, high: float) -> Tensor:
    if math.isnan(low) or math.isnan(high):
        raise UnsupportedError("a bound is no number", "correct the model")
    # ONNX computes min(max(x, low), high): crossed bounds give `high` everywhere.
    return ctx.emit(ops.Clip(min(low, high), high), x)


def _value_and_number(node: OnnxNode) -> tuple[Value, float]:
    if node.input_count != 2:
        raise UnsupportedError(f"it has {node.input_count} inputs", "use one value and one number")
    value = 1 if isinstance(node.tensor(0), Constant) else 0
    return node.real_value(value), node.float_input(1 - value, "bound")
