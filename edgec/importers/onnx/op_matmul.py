"""Gemm, MatMul and Einsum."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from edgec.importers.common.tensors import Tensor, UnsupportedError, moved_constant, require_real
from edgec.importers.onnx.context import Context
from edgec.importers.onnx.node import OnnxNode
from edgec.ir import ops
from edgec.ir.graph import Constant, Value


def _both() -> UnsupportedError:
    return UnsupportedError(
        "both operands are computed at run time", "export it as MatMul, or make one a constant"
    )


def gemm(ctx: Context, node: OnnxNode) -> Tensor:
    """One operand constant; alpha, beta, transA, transB; C constant or computed."""
    a, b = node.tensor(0), node.tensor(1)
    if any(len(t.shape) != 2 for t in (a, b)):
        raise UnsupportedError("an operand is no matrix", "correct the model")
    a = ctx.transpose(a, (1, 0)) if node.flag("transA", False) else a
    b = ctx.transpose(b, (1, 0)) if node.flag("transB", False) else b
    c = node.tensor(2) if node.has(2) and node.number("beta", 1.0) != 0.0 else None
    if isinstance(c, Constant):
        c = _scaled(c, node.number("beta", 1.0))
    alpha = node.number("alpha", 1.0)
    if isinstance(b, Constant):
        weight = ctx.pools.weight(_scaled(ctx.transpose(b, (1, 0)), alpha))
        bias = _row_bias(c, weight.shape[0]) if isinstance(c, Constant) else None
        y: Tensor = ctx.emit(ops.Gemm(), _real(a), weight, bias)
        if bias is not None:
            return y
    else:
        y = _constant_left(ctx, a, b, alpha)
    return y if c is None else ctx.emit(ops.Add(), y, _addend(ctx, c, node.number("beta", 1.0)))


def matmul(ctx: Context, node: OnnxNode) -> Tensor:
    """Two values, or one and a constant matrix or vector (leading dimensions of 1 allowed)."""
    return product(ctx, node.tensor(0), node.tensor(1))


def product(ctx: Context, a: Tensor, b: Tensor) -> Tensor:
    """``a @ b`` as numpy has it.

    Raises:
        UnsupportedError: an operand is a scalar or holds integers, a constant several matrices.
    """
    if min(len(a.shape), len(b.shape)) < 1:
        raise UnsupportedError("an operand is a scalar", "use Mul")
    # A vector is a row on the left and a column on the right; that dimension goes again afterwards.
    a2 = ctx.reshape(a, (1, *a.shape)) if len(a.shape) == 1 else a
    b2 = ctx.reshape(b, (*b.shape, 1)) if len(b.shape) == 1 else b
    rank = max(len(a2.shape), len(b2.shape))
    if isinstance(a2, Value) and isinstance(b2, Value):
        y: Tensor = ctx.emit(ops.MatMul(), require_real(a2), require_real(b2))
    elif isinstance(b2, Constant):
        weight = ctx.pools.weight(_scaled(ctx.transpose(_matrix(b2), (1, 0)), 1.0))
        y = ctx.emit(ops.Gemm(), _real(a2), weight, None)
    else:
        y = _constant_left(ctx, a2, b2, 1.0)
    shape = [1] * (rank - len(y.shape)) + list(y.shape)
    if len(a.shape) == 1:
        del shape[-2]
    if len(b.shape) == 1:
        del shape[-1]
    return ctx.reshape(y, shape)


def _constant_left(ctx: Context, a: Tensor, b: Tensor, alpha: float) -> Tensor:
    """A const [M, K] times b [..., K, N], as the transpose of ``b.T @ a.T``."""
    if not isinstance(a, Constant):
        raise _both()
    swap = (*range(len(b.shape) - 2), len(b.shape) - 1, len(b.shape) - 2)
    weight = ctx.pools.weight(_scaled(_matrix(a), alpha))
    y = ctx.emit(ops.Gemm(), _real(ctx.transpose(b, swap)), weight, None)
    return ctx.transpose(y, swap)


def _real(x: Tensor) -> Value:
    if isinstance(x, Constant):
        raise UnsupportedError("both operands are constants", "fold constants before the export")
    return require_real(x)


def _matrix(constant: Constant) -> Constant:
    """A constant with leading dimensions of 1 as a matrix."""
    shape = constant.shape
    if math.prod(shape[:-2]) != 1:
        raise UnsupportedError(
            f"the constant operand {list(shape)} holds several matrices",
            "split it into one MatMul per matrix",
        )
    return moved_constant(constant, lambda array: array.reshape(shape[-2:]))


def _scaled(constant: Tensor, factor: float) -> Constant:
    """A constant times a number; of a quantized one only the scales change."""
    if not isinstance(constant, Constant):
        raise _both()
    if factor == 1.0:
        return constant
    if constant.quant is None:
        return Constant(constant.name, constant.real() * np.float32(factor))
    if factor <= 0.0:
        raise UnsupportedError(
            f"it multiplies a quantized constant by {factor}", "use alpha and beta of 1"
        )
    scale = tuple(s * factor for s in constant.quant.scale)
    return replace(constant, quant=replace(constant.quant, scale=scale))


def _row_bias(c: Constant, outputs: int) -> Constant | None:
    """C as a bias [N]; None if its rows differ."""
    if math.prod(c.shape[:-1]) != 1 or (c.shape and c.shape[-1] not in (1, outputs)):
        return None
    flat = moved_constant(c, lambda array: array.reshape(-1))
    if flat.shape == (outputs,):
        return flat
    array = np.repeat(flat.array, outputs)
    return Constant(c.name, array, replace(flat.quant, axis=None) if flat.quant else None)


def _addend(ctx: Context, c: Tensor, beta: float) -> Tensor:
    """C as a summand; a computed one is multiplied by beta here."""
    if isinstance(c, Constant) or beta == 1.0:
        return c
    return ctx.emit(ops.Mul(), c, Constant("beta", np.asarray(beta, np.float32)))
