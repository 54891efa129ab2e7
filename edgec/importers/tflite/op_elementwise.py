"""Element functions of one and two variables, and Softmax.

Comparisons, what is made of truth values, and the choice between tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from edgec.base.dtypes import DType
from edgec.base.names import shown
from edgec.importers.common import functions, masks
from edgec.importers.common.attributes import finite_number
from edgec.importers.common.masks import Relation
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.tflite.attributes import fused
from edgec.importers.tflite.context import Context
from edgec.importers.tflite.node import TfliteNode
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.ops import UnaryKind

Handler = Callable[[Context, TfliteNode], Tensor]


def binary(attrs: Any) -> Handler:
    """The handler of an operator of two tensors."""

    def handler(ctx: Context, node: TfliteNode) -> Tensor:
        """Numpy broadcasting; either operand may be constant."""
        return fused(ctx, node, ctx.emit(attrs, *_operands(node)))

    return handler


def add_n(ctx: Context, node: TfliteNode) -> Tensor:
    """Tensors of one shape; all but one may be constant."""
    total = node.operand(0)
    for index in range(1, node.input_count):
        total = ctx.emit(ops.Add(), total, node.operand(index))
    return total


def power(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant exponents, 16 different ones at most; or a constant base of positive numbers."""
    return functions.power(ctx, *_operands(node), node.outputs[0])


def zeros_like(_ctx: Context, node: TfliteNode) -> Tensor:
    """Real numbers; becomes a constant."""
    return Constant(node.outputs[0], np.zeros(node.tensor(0).shape, np.float32))


def unary(kind: UnaryKind, alpha: float = 0.0) -> Handler:
    """The handler of an element function."""

    def handler(ctx: Context, node: TfliteNode) -> Tensor:
        """Any shape."""
        return ctx.emit(ops.Unary(kind, alpha), node.real(0))

    return handler


def clip(low: float, high: float) -> Handler:
    """The handler of an activation function that cuts off."""

    def handler(ctx: Context, node: TfliteNode) -> Tensor:
        """Any shape."""
        return ctx.emit(ops.Clip(low, high), node.real(0))

    return handler


def div(ctx: Context, node: TfliteNode) -> Tensor:
    """Numpy broadcasting; a constant divisor has no zeros."""
    y = functions.quotient(ctx, *_operands(node))
    return fused(ctx, node, y) if isinstance(y, Value) else y


def squared_difference(ctx: Context, node: TfliteNode) -> Tensor:
    """Numpy broadcasting; either operand may be constant."""
    if any(node.input_params(index) is not None for index in (0, 1)):
        return ctx.emit(ops.SquaredDifference(), *_operands(node))
    difference = ctx.emit(ops.Sub(), *_operands(node))
    return ctx.emit(ops.Unary(UnaryKind.POW, alpha=2.0), difference)


def minimum(ctx: Context, node: TfliteNode) -> Tensor:
    """Numpy broadcasting; either operand may be constant."""
    return functions.extreme(ctx, _alike(node), largest=False)


def maximum(ctx: Context, node: TfliteNode) -> Tensor:
    """Numpy broadcasting; either operand may be constant."""
    return functions.extreme(ctx, _alike(node), largest=True)


def leaky_relu(ctx: Context, node: TfliteNode) -> Tensor:
    """Any shape."""
    return ctx.emit(
        ops.Unary(UnaryKind.LEAKY_RELU, finite_number(node.number("Alpha"))), node.real(0)
    )


def gelu(ctx: Context, node: TfliteNode) -> Tensor:
    """Any shape; exact or approximate."""
    kind = UnaryKind.GELU_TANH if node.integer("Approximate") else UnaryKind.GELU
    return ctx.emit(ops.Unary(kind), node.real(0))


def prelu(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant slope that broadcasts to the input."""
    slopes = node.constant(1, "slope")
    if slopes.quant is None or slopes.quant.axis is not None or node.input_params(0) is None:
        slopes = Constant(slopes.name, node.real_array(1, "slope"))
    return functions.prelu(ctx, node.real(0), slopes)


def softmax(ctx: Context, node: TfliteNode) -> Tensor:
    """Over the last axis; any beta."""
    x, beta = _with_axis(node), finite_number(node.number("Beta", 1.0))
    if node.input_params(0) is not None:
        if beta <= 0.0:
            raise UnsupportedError(f"its beta is {beta:g}", "use a beta above 0")
        return ctx.emit(ops.Softmax(beta), x)
    if beta != 1.0:
        x = ctx.emit(ops.Mul(), x, Constant("beta", np.asarray(beta, np.float32)))
    return ctx.emit(ops.Softmax(), x)


def log_softmax(ctx: Context, node: TfliteNode) -> Tensor:
    """Over the last axis."""
    return ctx.emit(ops.LogSoftmax(), _with_axis(node))


def _with_axis(node: TfliteNode) -> Value:
    """The first operand of an operator over the last axis.

    Raises:
        UnsupportedError: it has no axis.
    """
    x = node.real(0)
    if not x.shape:
        raise UnsupportedError("its input is a single number", "correct the model")
    return x


def _operands(node: TfliteNode) -> tuple[Tensor, Tensor]:
    a, b = node.operand(0), node.operand(1)
    if isinstance(a, Constant) and isinstance(b, Constant):
        raise UnsupportedError("both operands are constants", "convert with constants folded")
    return a, b


def _alike(node: TfliteNode) -> tuple[Tensor, Tensor]:
    """Two operands of which one is chosen; a constant of int16 codes has the scale of the other.

    Raises:
        UnsupportedError: it has another, by which TensorFlow Lite Micro does not convert codes.
    """
    a, b = _operands(node)
    for constant, other in ((a, 1), (b, 0)):
        quant = constant.quant if isinstance(constant, Constant) else None
        if quant is not None and quant.dtype is DType.INT16 and quant != node.input_params(other):
            raise UnsupportedError(
                f"its constant {shown(constant.name)} has another scale than its input",
                "convert the model again",
            )
    return a, b


def compare(relation: Relation) -> Handler:
    """The handler of a comparison."""

    def handler(ctx: Context, node: TfliteNode) -> Tensor:
        """Real numbers or whole numbers; operands may be constants; numpy broadcasting."""
        return masks.related(ctx, relation, node.movable(0), node.movable(1))

    return handler


def not_equal(ctx: Context, node: TfliteNode) -> Tensor:
    """Real numbers or whole numbers; operands may be constants; numpy broadcasting."""
    same = masks.related(ctx, Relation.EQUAL, node.movable(0), node.movable(1))
    return same if isinstance(same, Constant) else masks.negated(ctx, same)


def combine(absorbing: bool) -> Handler:
    """The handler of And (`absorbing` false) or Or."""

    def handler(ctx: Context, node: TfliteNode) -> Tensor:
        """Each operand is a truth value, computed or constant."""
        a, b = node.tensor(0), node.tensor(1)
        return masks.combined(ctx, a, b, absorbing, node.outputs[0])

    return handler


def reduce(absorbing: bool) -> Handler:
    """The handler of REDUCE_ANY (`absorbing` true) or REDUCE_ALL."""

    def handler(ctx: Context, node: TfliteNode) -> Tensor:
        """Truth values along constant axes; keep_dims."""
        x, keep = node.value(0), bool(node.integer("KeepDims"))
        axes = node.axes(1, len(x.shape))
        return masks.reduced(ctx, x, axes, keep, absorbing, node.outputs[0])

    return handler


def logical_not(ctx: Context, node: TfliteNode) -> Tensor:
    """The operand is a truth value."""
    return masks.negated(ctx, node.value(0))


def select(ctx: Context, node: TfliteNode) -> Tensor:
    """Between real numbers or between whole numbers; numpy broadcasting."""
    condition, a, b = node.tensor(0), node.movable(1), node.movable(2)
    if isinstance(condition, Constant) and condition.dtype is not DType.BOOL:
        raise UnsupportedError("its condition is no truth value", "correct the model")
    if node.op == "SELECT" and len(condition.shape) == 1 and len(a.shape) > 1:
        # A condition of one axis chooses rows.
        condition = ctx.reshape(condition, (*condition.shape, *(1,) * (len(a.shape) - 1)))
    return masks.chosen(ctx, condition, a, b)
