"""Element functions of one and two variables, and Softmax."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.importers.tflite.activation import fused
from edgec.importers.tflite.context import Context
from edgec.importers.tflite.node import TfliteNode
from edgec.ir import ops
from edgec.ir.graph import Constant
from edgec.ir.ops import UnaryKind

Handler = Callable[[Context, TfliteNode], Tensor]


def binary(attrs: Any) -> Handler:
    """The handler of an operator of two tensors."""

    def handler(ctx: Context, node: TfliteNode) -> Tensor:
        """Numpy broadcasting; either operand may be constant."""
        return fused(ctx, node, ctx.emit(attrs, *_operands(node)))

    return handler


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
    dividend, divisor = _operands(node)
    if isinstance(divisor, Constant):
        real = divisor.real()
        if not np.all(real):
            raise UnsupportedError("it divides by zero", "correct the model")
        factor = Constant(divisor.name, (1.0 / real.astype(np.float64)).astype(np.float32))
        return fused(ctx, node, ctx.emit(ops.Mul(), dividend, factor))
    inverse = ctx.emit(ops.Unary(UnaryKind.RECIPROCAL), divisor)
    return fused(ctx, node, ctx.emit(ops.Mul(), dividend, inverse))


def squared_difference(ctx: Context, node: TfliteNode) -> Tensor:
    """Numpy broadcasting; either operand may be constant."""
    difference = ctx.emit(ops.Sub(), *_operands(node))
    return ctx.emit(ops.Unary(UnaryKind.POW, alpha=2.0), difference)


def rsqrt(ctx: Context, node: TfliteNode) -> Tensor:
    """Any shape."""
    root = ctx.emit(ops.Unary(UnaryKind.SQRT), node.real(0))
    return ctx.emit(ops.Unary(UnaryKind.RECIPROCAL), root)


def minimum(ctx: Context, node: TfliteNode) -> Tensor:
    """One computed tensor and one constant number."""
    x, bound = _tensor_and_number(node)
    return ctx.emit(ops.Clip(-math.inf, bound), x)


def maximum(ctx: Context, node: TfliteNode) -> Tensor:
    """One computed tensor and one constant number."""
    x, bound = _tensor_and_number(node)
    return ctx.emit(ops.Clip(bound, math.inf), x)


def leaky_relu(ctx: Context, node: TfliteNode) -> Tensor:
    """Any shape."""
    return ctx.emit(ops.Unary(UnaryKind.LEAKY_RELU, _finite(node.number("Alpha"))), node.real(0))


def gelu(ctx: Context, node: TfliteNode) -> Tensor:
    """Any shape; exact or approximate."""
    kind = UnaryKind.GELU_TANH if node.integer("Approximate") else UnaryKind.GELU
    return ctx.emit(ops.Unary(kind), node.real(0))


def prelu(ctx: Context, node: TfliteNode) -> Tensor:
    """Constant slope, one number or one per channel of the last axis."""
    x, slope = node.real(0), node.real_array(1, "slope")
    if slope.size == 1:
        alpha = float(slope.reshape(-1)[0])
        return ctx.emit(ops.Unary(UnaryKind.LEAKY_RELU, alpha=alpha), x)
    if slope.shape[-1] != slope.size:
        raise UnsupportedError(
            f"the slope {list(slope.shape)} varies along several axes",
            "use a slope per channel (shared_axes=[1, 2] in Keras)",
        )
    return ctx.emit(ops.PRelu(), x, Constant(node.constant(1, "slope").name, slope.reshape(-1)))


def softmax(ctx: Context, node: TfliteNode) -> Tensor:
    """Over the last axis; any beta."""
    x, beta = node.real(0), _finite(node.number("Beta", 1.0))
    if beta != 1.0:
        x = ctx.emit(ops.Mul(), x, Constant("beta", np.asarray(beta, np.float32)))
    return ctx.emit(ops.Softmax(), x)


def _operands(node: TfliteNode) -> tuple[Tensor, Tensor]:
    a, b = node.operand(0), node.operand(1)
    if isinstance(a, Constant) and isinstance(b, Constant):
        raise UnsupportedError("both operands are constants", "convert with constants folded")
    return a, b


def _tensor_and_number(node: TfliteNode) -> tuple[Tensor, float]:
    place = 1 if isinstance(node.tensor(0), Constant) else 0
    bound = node.real_array(1 - place, "bound")
    if bound.size != 1:
        raise UnsupportedError(f"its bound has {bound.size} elements", "use one number")
    return node.real(place), _finite(float(bound.reshape(-1)[0]))


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise UnsupportedError(f"{number} is no finite number", "correct the model")
    return number
