"""Gemm, MatMul and Einsum.

Einsum of one operand as diagonal, sum and transpose, of two as a matrix product.
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from edgec.importers.common.attributes import matrices_swapped
from edgec.importers.common.gathered import pick
from edgec.importers.common.scattered import check_places
from edgec.importers.common.stacked import stacked_product
from edgec.importers.common.tensors import Tensor, UnsupportedError, moved_constant, require_real
from edgec.importers.onnx.node import Context, OnnxNode
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.ops import ReduceKind


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
    """Two values, or one and constant matrices or a vector."""
    return product(ctx, node.tensor(0), node.tensor(1))


def product(ctx: Context, a: Tensor, b: Tensor) -> Tensor:
    """``a @ b`` as numpy has it.

    Raises:
        UnsupportedError: an operand is a scalar or holds integers.
    """
    if min(len(a.shape), len(b.shape)) < 1:
        raise UnsupportedError("an operand is a scalar", "use Mul")
    # A vector is a row on the left and a column on the right; that dimension goes again afterwards.
    a2 = ctx.reshape(a, (1, *a.shape)) if len(a.shape) == 1 else a
    b2 = ctx.reshape(b, (*b.shape, 1)) if len(b.shape) == 1 else b
    rank = max(len(a2.shape), len(b2.shape))
    if isinstance(a2, Value) and isinstance(b2, Value):
        y: Tensor = ctx.emit(ops.MatMul(), require_real(a2), require_real(b2))
    elif isinstance(b2, Constant) and _holds_several(b2):
        y = stacked_product(ctx, _real(a2), _scaled(b2, 1.0))
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
    swap = matrices_swapped(len(b.shape))
    if _holds_several(a):
        turned = _scaled(ctx.transpose(a, matrices_swapped(len(a.shape))), alpha)
        y = stacked_product(ctx, _real(ctx.transpose(b, swap)), turned)
        return ctx.transpose(y, matrices_swapped(len(y.shape)))
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
    return moved_constant(constant, lambda array: array.reshape(shape[-2:]))


def _holds_several(constant: Constant) -> bool:
    """Whether a constant [..., K, N] holds more than one matrix."""
    return math.prod(constant.shape[:-2]) != 1


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


_REMEDY = "write it as MatMul, Transpose and ReduceSum"


def einsum(ctx: Context, node: OnnxNode) -> Tensor:
    """One or two operands: diagonals, sums, products of matrices."""
    equation = node.text("equation", "").replace(" ", "")
    if node.input_count not in (1, 2):
        raise UnsupportedError(f"{equation!r} is no product of two operands", _REMEDY)
    operands = [node.tensor(index) for index in range(node.input_count)]
    terms, out = _spelled_out(equation, [len(x.shape) for x in operands])
    if len(set(out)) != len(out) or not {*out} <= {*"".join(terms)}:
        raise UnsupportedError(f"the result of {equation!r} repeats an index", "correct the model")
    sizes = _sizes(terms, [x.shape for x in operands])
    found = [
        _summed(ctx, x, term, {*out}.union(*(t for j, t in enumerate(terms) if j != i)))
        for i, (x, term) in enumerate(zip(operands, terms, strict=True))
    ]
    y, order = found[0] if len(found) == 1 else _product(ctx, found[0], found[1], out, sizes)
    return ctx.transpose(y, [order.index(index) for index in out])


_Named = tuple[Tensor, str]
"""A tensor and the indices of its axes."""


def _spelled_out(equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The indices of each operand and of the result, each axis with a letter of its own."""
    given, _, out = equation.partition("->")
    terms = given.split(",")
    if len(terms) != len(ranks):
        raise UnsupportedError(f"{equation!r} has not {len(ranks)} operands", "correct the model")
    free = [letter for letter in string.ascii_letters if letter not in equation]
    widths = [
        rank - len(term.replace("...", "")) if "..." in term else 0
        for term, rank in zip(terms, ranks, strict=True)
    ]
    most = max(widths)
    if min(widths) < 0 or most > len(free):
        raise UnsupportedError(f"{equation!r} does not fit its operands", "correct the model")
    every = "".join(free[:most])
    # Axes that stand for ... are counted from the last one.
    terms = [
        term.replace("...", every[most - width :])
        for term, width in zip(terms, widths, strict=True)
    ]
    if "->" not in equation:
        letters = "".join(terms)
        out = every + "".join(sorted(i for i in {*letters} - {*every} if letters.count(i) == 1))
    return terms, out.replace("...", every)


def _summed(ctx: Context, x: Tensor, term: str, needed: set[str]) -> _Named:
    """X with the diagonals of repeated indices, and sums over those that nobody needs."""
    single = "".join(dict.fromkeys(term))
    if single != term:
        check_places(math.prod(x.shape))
        places = np.arange(math.prod(x.shape)).reshape(x.shape)
        letters = {index: string.ascii_letters[i] for i, index in enumerate(single)}
        short = ["".join(letters[index] for index in each) for each in (term, single)]
        diagonal = np.einsum("->".join(short), places)
        x = pick(ctx, ctx.reshape(x, (places.size,)), 0, diagonal)
    lone = tuple(axis for axis, index in enumerate(single) if index not in needed)
    if lone and isinstance(x, Constant):
        x = Constant(x.name, x.real().sum(axis=lone))
    elif lone:
        x = ctx.emit(ops.Reduce(ReduceKind.SUM, lone, keepdims=False), x)
    return x, "".join(index for index in single if index in needed)


def _product(ctx: Context, a: _Named, b: _Named, out: str, sizes: dict[str, int]) -> _Named:
    indices = _indices(a[1], b[1], out)
    left = _operand(ctx, a, sizes, (indices.both, indices.left, indices.summed))
    right = _operand(ctx, b, sizes, (indices.both, indices.summed, indices.right))
    order = indices.both + indices.left + indices.right
    y = product(ctx, left, right)
    return ctx.reshape(y, [sizes[index] for index in order]), order


@dataclass(frozen=True, slots=True)
class _Indices:
    """Indices by where they are: in both operands and the result, in one operand, summed."""

    both: str
    left: str
    right: str
    summed: str


def _indices(left: str, right: str, out: str) -> _Indices:
    return _Indices(
        both="".join(i for i in left if i in right and i in out),
        left="".join(i for i in left if i not in right),
        right="".join(i for i in right if i not in left),
        summed="".join(i for i in left if i in right and i not in out),
    )


def _sizes(terms: Sequence[str], shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for term, shape in zip(terms, shapes, strict=True):
        if len(term) != len(shape):
            raise UnsupportedError(f"{term!r} does not fit {list(shape)}", "correct the model")
        for index, size in zip(term, shape, strict=True):
            if sizes.setdefault(index, size) != size:
                raise UnsupportedError(f"index {index!r} has two sizes", "correct the model")
    return sizes


def _operand(
    ctx: Context, named: _Named, sizes: dict[str, int], groups: tuple[str, str, str]
) -> Tensor:
    """A stack of matrices: the first group's axes, then one axis for each other group."""
    (x, term), (lead, rows, columns) = named, groups
    moved = ctx.transpose(x, [term.index(index) for index in lead + rows + columns])
    matrix = (math.prod(sizes[i] for i in group) for group in (rows, columns))
    return ctx.reshape(moved, (*(sizes[i] for i in lead), *matrix))
