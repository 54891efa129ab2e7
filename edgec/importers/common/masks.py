"""Truth values: made by comparisons, combined, and used to choose between tensors.

Booleans are int32 in the graph, false is 0; constants beside them are float32.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from edgec.base.dtypes import DType
from edgec.importers.common.builder import RealBuilder
from edgec.importers.common.gathered import common_shape, expanded
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.ops import CompareKind, UnaryKind

NOT = ops.Unary(UnaryKind.NOT)
_MOST_NUMBER = 1 << 24
"""Integers that a float holds exactly."""


class Relation(enum.Enum):
    """Comparisons of ONNX, by name."""

    EQUAL = "Equal"
    LESS = "Less"
    LESS_OR_EQUAL = "LessOrEqual"
    GREATER = "Greater"
    GREATER_OR_EQUAL = "GreaterOrEqual"


_COMPARISONS: Mapping[Relation, np.ufunc] = MappingProxyType(
    {
        Relation.EQUAL: np.equal,
        Relation.LESS: np.less,
        Relation.LESS_OR_EQUAL: np.less_equal,
        Relation.GREATER: np.greater,
        Relation.GREATER_OR_EQUAL: np.greater_equal,
    }
)
_TURNED = {
    Relation.GREATER: CompareKind.LESS,
    Relation.GREATER_OR_EQUAL: CompareKind.LESS_OR_EQUAL,
}


def related(ctx: RealBuilder, relation: Relation, a: Tensor, b: Tensor) -> Tensor:
    """Mask of the elements where a has a relation to b, numpy broadcasting.

    Returns:
        An int32 value; a constant of bool where both operands are constants.

    Raises:
        UnsupportedError: a constant has no place among floats.
    """
    if isinstance(a, Constant) and isinstance(b, Constant):
        left, right = (x.array if x.quant is None else x.real64() for x in (a, b))
        truth = _COMPARISONS[relation](left, right)
        return Constant(f"{a.name}/{relation.value}/{b.name}", np.asarray(truth, np.bool_))
    if relation is Relation.EQUAL:
        found = _equals_one_number(ctx, a, b)
        if found is not None:
            return found
    a, b = beside(a, b), beside(b, a)
    if relation in _TURNED:
        return ctx.emit(ops.Compare(_TURNED[relation]), b, a, dtype=DType.INT32)
    return ctx.emit(ops.Compare(CompareKind(relation.value)), a, b, dtype=DType.INT32)


def _equals_one_number(ctx: RealBuilder, a: Tensor, b: Tensor) -> Tensor | None:
    """The comparison of integers with one number, by an operator that masks are known by."""
    x, number = (b, a) if isinstance(a, Constant) else (a, b)
    if not isinstance(x, Value) or x.dtype is not DType.INT32 or not isinstance(number, Constant):
        return None
    array = number.array
    if not array.size or array.dtype.kind not in "iub" or not (array == array.flat[0]).all():
        return None
    first = int(array.flat[0])
    if abs(first) > _MOST_NUMBER:
        raise UnsupportedError(f"it compares with {first}", "use numbers below 2^24")
    truth = array.dtype == np.bool_ and bool(first)
    y = x if truth else ctx.emit(replace(NOT, alpha=float(first)), x)
    return expanded(ctx, y, common_shape(x.shape, array.shape))


def beside(x: Tensor, other: Tensor) -> Tensor:
    """An operand as it stands beside another one: a constant as float32 or codes.

    Raises:
        UnsupportedError: integers and real numbers meet, or an integer is too large.
    """
    if isinstance(x, Value):
        if isinstance(other, Value) and x.dtype is not other.dtype:
            raise UnsupportedError("integers meet real numbers", "convert one of them before")
        return x
    if x.quant is not None or x.dtype is DType.FLOAT32:
        if isinstance(other, Value) and other.dtype is DType.INT32 and x.quant is not None:
            raise UnsupportedError("integers meet real numbers", "convert one of them before")
        return _finite(x)
    if x.array.size and np.abs(x.array.astype(np.float64)).max() > _MOST_NUMBER:
        raise UnsupportedError("a constant beside it is too large", "use numbers below 2^24")
    return Constant(x.name, x.array.astype(np.float32))


def _finite(x: Constant) -> Constant:
    """A constant; infinity in it becomes the largest float."""
    if x.array.dtype.kind != "f" or not np.isinf(x.array).any():
        return x
    limits = np.finfo(np.float32)
    return Constant(x.name, np.clip(x.array, limits.min, limits.max), x.quant)


def chosen(ctx: RealBuilder, condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Choose a where a condition holds, else b; numpy broadcasting.

    Raises:
        UnsupportedError: the condition is no mask, or a and b are of two kinds.
    """
    if isinstance(condition, Constant):
        truth = condition.array.astype(bool)
        if not truth.any() or truth.all():
            taken, other = (a, b) if truth.all() else (b, a)
            return expanded(ctx, taken, common_shape(truth.shape, taken.shape, other.shape))
        condition = Constant(condition.name, truth.astype(np.float32))
    else:
        require_mask(condition)
    kinds = {x.dtype for x in (a, b) if isinstance(x, Value)}
    if len(kinds) > 1:
        raise UnsupportedError("it chooses between integers and reals", "convert one of them")
    dtype = kinds.pop() if kinds else DType.FLOAT32
    if not kinds and isinstance(a, Constant) and isinstance(b, Constant) and _whole(a, b):
        dtype = DType.INT32
    first, second = beside(a, b), beside(b, a)
    return ctx.emit(ops.Where(), condition, first, second, dtype=dtype)


def _whole(a: Constant, b: Constant) -> bool:
    return all(x.quant is None and x.array.dtype.kind in "iub" for x in (a, b))


def combined(ctx: RealBuilder, a: Tensor, b: Tensor, absorbing: bool, stem: str) -> Tensor:
    """And (`absorbing` false) and Or of two masks: where one has that value, so has the result.

    Args:
        ctx: the graph under construction.
        a, b: masks or constants.
        absorbing: see above.
        stem: what the name of a constant begins with.

    Raises:
        UnsupportedError: one is no mask.
    """
    if isinstance(a, Constant) and isinstance(b, Constant):
        join = np.logical_or if absorbing else np.logical_and
        return Constant(f"{stem}/known", np.asarray(join(a.array, b.array)))
    if isinstance(a, Constant):
        a, b = b, a
    assert isinstance(a, Value)
    shape, mask = common_shape(a.shape, b.shape), require_mask(a)
    other: Tensor
    if isinstance(b, Constant):
        truth = b.array.astype(bool)
        if (truth == absorbing).all():
            return Constant(b.name, np.broadcast_to(truth, shape))
        if (truth != absorbing).all():
            return expanded(ctx, mask, shape)
        other = Constant(b.name, truth.astype(np.float32))
    else:
        other = require_mask(b)
    fixed = Constant(f"{stem}/fixed", np.asarray(float(absorbing), np.float32))
    choices = (fixed, other) if absorbing else (other, fixed)
    return to_bool(ctx, ctx.emit(ops.Where(), mask, *choices, dtype=DType.INT32))


def reduced(
    ctx: RealBuilder, x: Value, axes: tuple[int, ...], keepdims: bool, absorbing: bool, stem: str
) -> Tensor:
    """Whether any (`absorbing` true) or all elements of a mask along some axes hold.

    Args:
        ctx: the graph under construction.
        x: a mask.
        axes: the axes, at least one.
        keepdims: whether they stay, with one element each.
        absorbing: see above.
        stem: what the name of a constant begins with.

    Raises:
        UnsupportedError: x is no mask.
    """
    real = ctx.emit(ops.Cast(), require_mask(x), dtype=DType.FLOAT32)
    kind = ops.ReduceKind.MAX if absorbing else ops.ReduceKind.MIN
    found = ctx.emit(ops.Reduce(kind, axes, keepdims), real)
    half = Constant(f"{stem}/half", np.asarray(0.5, np.float32))
    return related(ctx, Relation.GREATER, found, half)


def negated(ctx: RealBuilder, x: Value) -> Tensor:
    """1 where a mask is 0, else 0."""
    return ctx.emit(NOT, require_mask(x))


def to_bool(ctx: RealBuilder, x: Value) -> Tensor:
    """X as 0 (where x is zero) and 1; x may hold real numbers."""
    made = ctx.producer(x)
    if made is not None and (made.attrs == NOT or isinstance(made.attrs, ops.Compare)):
        return x
    return ctx.emit(NOT, ctx.emit(NOT, x, dtype=DType.INT32))


def require_mask(x: Value) -> Value:
    """X, if it holds integers.

    Raises:
        UnsupportedError: it holds reals.
    """
    if x.dtype is not DType.INT32:
        raise UnsupportedError("its input is no mask", "use a boolean or integer input")
    return x
