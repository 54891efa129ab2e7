"""Element functions of one and two variables, and Softmax.

Comparisons, logical operators, and Where.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from edgec.base.dtypes import DType
from edgec.importers.common import functions, masks
from edgec.importers.common.attributes import finite_number, normal_axis
from edgec.importers.common.functions import power as powers
from edgec.importers.common.gathered import expanded
from edgec.importers.common.scattered import check_places
from edgec.importers.common.tensors import Tensor, UnsupportedError, require_real
from edgec.importers.onnx.node import Context, OnnxNode
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
    return functions.quotient(ctx, *_operands(node))


def power(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant exponents, 16 different ones at most; or a constant base of positive numbers."""
    base, exponent = node.tensor(0), node.tensor(1)
    if isinstance(base, Value):
        require_real(base)
    return powers(ctx, base, exponent, node.outputs[0])


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


def mean(ctx: Context, node: OnnxNode) -> Tensor:
    """Any number of inputs, numpy broadcasting."""
    share = np.asarray(1.0 / node.input_count, np.float32)
    return ctx.emit(ops.Mul(), variadic_sum(ctx, node), Constant(f"{node.outputs[0]}/share", share))


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
    """Any number of inputs, numpy broadcasting; one of them is computed."""
    return functions.extreme(ctx, _all_operands(node), largest=False)


def maximum(ctx: Context, node: OnnxNode) -> Tensor:
    """Any number of inputs, numpy broadcasting; one of them is computed."""
    return functions.extreme(ctx, _all_operands(node), largest=True)


def _all_operands(node: OnnxNode) -> list[Tensor]:
    return [_operand(node, index) for index in range(node.input_count)]


def unary(ctx: Context, node: OnnxNode) -> Tensor:
    """Any shape."""
    return ctx.emit(ops.Unary(UnaryKind(node.op)), node.real_value(0))


def parametric(ctx: Context, node: OnnxNode) -> Tensor:
    """Any shape."""
    (first, alpha), *rest = _PARAMETERS[node.op]
    beta = node.number(*rest[0]) if rest else 0.0
    attrs = ops.Unary(UnaryKind(node.op), finite_number(node.number(first, alpha)), beta)
    return ctx.emit(attrs, node.real_value(0))


_PARAMETERS: Mapping[str, tuple[tuple[str, float], ...]] = MappingProxyType(
    {
        "LeakyRelu": (("alpha", 0.01),),
        "Swish": (("alpha", 1.0),),
        "Elu": (("alpha", 1.0),),
        "Celu": (("alpha", 1.0),),
        "ThresholdedRelu": (("alpha", 1.0),),
        "HardSigmoid": (("alpha", 0.2), ("beta", 0.5)),
        "Selu": (("alpha", 1.67326319217681884765625), ("gamma", 1.05070102214813232421875)),
        "Shrink": (("lambd", 0.5), ("bias", 0.0)),
    }
)
"""The attributes of functions that have some, with ONNX's defaults: alpha, then beta."""


def swiglu(ctx: Context, node: OnnxNode) -> Tensor:
    """Two inputs of one shape, the gate first."""
    gate = ctx.emit(
        ops.Unary(UnaryKind.SWISH, finite_number(node.number("alpha", 1.0))), _operand(node, 0)
    )
    return ctx.emit(ops.Mul(), gate, _operand(node, 1))


def mod(ctx: Context, node: OnnxNode) -> Tensor:
    """Real numbers (fmod = 1) and a constant divisor, one number."""
    divisor = node.float_input(1, "divisor")
    if not math.isfinite(divisor) or divisor == 0.0:
        raise UnsupportedError(f"it divides by {divisor}", "correct the model")
    return ctx.emit(ops.Unary(UnaryKind.MOD, alpha=divisor), node.real_value(0))


def gelu(ctx: Context, node: OnnxNode) -> Tensor:
    """Any shape; approximate none or tanh."""
    kinds = {"none": UnaryKind.GELU, "tanh": UnaryKind.GELU_TANH}
    kind = kinds.get(node.text("approximate", "none"))
    if kind is None:
        raise UnsupportedError("its approximation is unknown", "use approximate none or tanh")
    return ctx.emit(ops.Unary(kind), node.real_value(0))


def prelu(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant slope that broadcasts to the input."""
    return functions.prelu(
        ctx, node.real_value(0), Constant(node.input_name(1), node.real_array(1, "slope"))
    )


def softmax(ctx: Context, node: OnnxNode) -> Tensor:
    """Any axis; before opset 13 over all axes from `axis` on, as ONNX defined it then."""
    return _over_rows(ctx, node, lambda x: ctx.emit(ops.Softmax(), x))


def log_softmax(ctx: Context, node: OnnxNode) -> Tensor:
    """Any axis; before opset 13 over all axes from `axis` on, as ONNX defined it then."""
    return _over_rows(ctx, node, lambda x: ctx.emit(ops.LogSoftmax(), x))


def hardmax(ctx: Context, node: OnnxNode) -> Tensor:
    """Any axis; before opset 13 over all axes from `axis` on, as ONNX defined it then."""
    return _over_rows(ctx, node, lambda x: functions.hardmax(ctx, x, node.outputs[0]))


def _over_rows(ctx: Context, node: OnnxNode, function: Callable[[Tensor], Tensor]) -> Tensor:
    """A function of rows, along an axis or over all axes from one on."""
    x = node.real_value(0)
    rank = len(x.shape)
    axis = normal_axis(node.integer("axis", -1 if node.opset >= 13 else 1), rank, node.opset < 13)
    if node.opset >= 13:
        return ctx.axis_back(function(ctx.axis_last(x, axis)), axis)
    rows = math.prod(x.shape[:axis])
    flat = ctx.reshape(x, (rows, math.prod(x.shape[axis:]))) if axis != rank - 1 else x
    return ctx.reshape(function(flat), x.shape)


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


def _clip(ctx: Context, x: Value, low: float, high: float) -> Tensor:
    if math.isnan(low) or math.isnan(high):
        raise UnsupportedError("a bound is no number", "correct the model")
    # ONNX computes min(max(x, low), high): crossed bounds give `high` everywhere.
    return ctx.emit(ops.Clip(min(low, high), high), x)


def where(ctx: Context, node: OnnxNode) -> Tensor:
    """Between real numbers or between integers; numpy broadcasting."""
    condition, a, b = (node.tensor(index) for index in range(3))
    return masks.chosen(ctx, condition, a, b)


def compare(ctx: Context, node: OnnxNode) -> Tensor:
    """Real numbers or integers; operands may be constants; numpy broadcasting."""
    return masks.related(ctx, masks.Relation(node.op), node.tensor(0), node.tensor(1))


def not_(ctx: Context, node: OnnxNode) -> Tensor:
    """The operand is a mask or a constant."""
    x = node.tensor(0)
    if isinstance(x, Constant):
        return Constant(node.outputs[0], np.logical_not(x.array))
    return masks.negated(ctx, x)


def and_(ctx: Context, node: OnnxNode) -> Tensor:
    """Each operand is a mask or a constant."""
    return masks.combined(ctx, node.tensor(0), node.tensor(1), False, node.name)


def or_(ctx: Context, node: OnnxNode) -> Tensor:
    """Each operand is a mask or a constant."""
    return masks.combined(ctx, node.tensor(0), node.tensor(1), True, node.name)


def xor(ctx: Context, node: OnnxNode) -> Tensor:
    """Each operand is a mask or a constant."""
    a, b = (_truth(ctx, node.tensor(index)) for index in (0, 1))
    same = masks.related(ctx, masks.Relation.EQUAL, a, b)
    if isinstance(same, Constant):
        return Constant(same.name, np.logical_not(same.array))
    return masks.negated(ctx, same)


def _truth(ctx: Context, x: Tensor) -> Tensor:
    if isinstance(x, Constant):
        return Constant(x.name, x.array.astype(np.int32))
    return masks.to_bool(ctx, masks.require_mask(x))


def is_nan(_ctx: Context, node: OnnxNode) -> Tensor:
    """Always false, as the numbers of a quantized network are finite."""
    return Constant(node.outputs[0], np.zeros((1,) * len(node.real_value(0).shape), np.bool_))


def trilu(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant k; real numbers, integers and masks."""
    x, k = node.value(0), node.ints_input(1, "k") if node.has(1) else (0,)
    if len(k) != 1 or len(x.shape) < 2:
        raise UnsupportedError("it has no matrices, or more than one k", "correct the model")
    rows, columns = x.shape[-2:]
    check_places(rows * columns)
    diagonal = max(min(k[0], columns), -rows - 1)
    upper = node.flag("upper", True)
    kept = (
        ~np.tri(rows, columns, diagonal - 1, bool)
        if upper
        else np.tri(rows, columns, diagonal, bool)
    )
    if kept.all():
        return x
    zero = Constant(f"{node.outputs[0]}/zero", np.zeros((), np.float32))
    return masks.chosen(ctx, Constant(f"{node.outputs[0]}/kept", kept), x, zero)


def one_hot(ctx: Context, node: OnnxNode) -> Tensor:
    """Integers of the run; constant depth and values; any axis."""
    index = masks.require_mask(node.value(0))
    depth, values = node.float_input(1, "depth"), node.constant(2, "values")
    rank = len(index.shape)
    axis = normal_axis(node.integer("axis", -1), rank + 1)
    if not 1.0 <= depth <= _MOST_DEPTH or values.array.size != 2:
        raise UnsupportedError(f"its depth is {depth:g}, or it has not two values", "correct it")
    column = ctx.reshape(index, (*index.shape[:axis], 1, *index.shape[axis:]))
    places = np.arange(int(depth)).reshape(-1, *[1] * (rank - axis))
    name = node.outputs[0]
    # Negative indices count from the end.
    found = [
        masks.related(ctx, masks.Relation.EQUAL, column, Constant(f"{name}/{part}", numbers))
        for part, numbers in (("places", places), ("from_end", places - int(depth)))
    ]
    where = masks.combined(ctx, found[0], found[1], True, name)
    off, on = (Constant(f"{name}/{i}", values.array.reshape(-1)[i]) for i in range(2))
    return masks.chosen(ctx, where, on, off)


_MOST_DEPTH = 1 << 20
"""Largest depth of a OneHot."""


def expand(ctx: Context, node: OnnxNode) -> Tensor:
    """Constant shape; numpy broadcasting."""
    return expanded(ctx, node.value(0), node.ints_input(1, "shape"))
