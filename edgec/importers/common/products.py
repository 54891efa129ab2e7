"""Products of many elements, and powers, made of products of two."""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import DType
from edgec.importers.common.builder import RealBuilder
from edgec.importers.common.masks import chosen
from edgec.importers.common.parts import padded, take
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.ops import PadMode, UnaryKind

_MOST_FACTORS = 8
"""Most factors of one product: of twelve normal numbers, those near zero lost their digits."""
_MOST_EXPONENTS = 16
"""Most different exponents of one power, each of which takes a table."""


def product_over(ctx: RealBuilder, x: Value, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    """The product of all elements along axes: of the halves of a row, as often as it has some.

    Args:
        ctx: the graph under construction.
        x: float32 value.
        axes: non-negative, ascending, not empty.
        keepdims: the axes stay, with length 1.

    Raises:
        UnsupportedError: there are too many elements for products of 8 bits.
    """
    rest = [axis for axis in range(len(x.shape)) if axis not in axes]
    lead = [x.shape[axis] for axis in rest]
    size = math.prod(x.shape[axis] for axis in axes)
    if size > _MOST_FACTORS:
        raise UnsupportedError(
            f"it multiplies {size} numbers, each product rounded; {_MOST_FACTORS} is the most",
            "sum the logarithms of positive numbers",
        )
    y = ctx.reshape(ctx.transpose(x, (*rest, *axes)), (*lead, size))
    left: list[Tensor] = []
    last = len(lead)
    while (size := y.shape[last]) > 1:
        half = size // 2
        if size % 2:
            left.append(take(ctx, y, {last: (size - 1, 1, 1)}))
        first, second = (take(ctx, y, {last: (start, 1, half)}) for start in (0, half))
        y = ctx.emit(ops.Mul(), first, second)
    for other in left:
        y = ctx.emit(ops.Mul(), y, other)
    kept = [1 if axis in axes else n for axis, n in enumerate(x.shape)]
    return ctx.reshape(y, kept if keepdims else lead)


def cumulative_product(
    ctx: RealBuilder, x: Value, axis: int, exclusive: bool, backward: bool
) -> Tensor:
    """Products of all elements up to each along an axis.

    Each step multiplies what twice as many elements gave; before the first element there are ones.

    Args:
        ctx: the graph under construction.
        x: float32 value.
        axis: non-negative.
        exclusive: an element does not count in its own product.
        backward: products start at the end.
    """
    size, y = x.shape[axis], _turned(ctx, x, axis, backward)
    if exclusive:
        y = _shifted(ctx, y, axis, 1)
    distance = 1
    while distance < size:
        y = ctx.emit(ops.Mul(), y, _shifted(ctx, y, axis, distance))
        distance *= 2
    return _turned(ctx, y, axis, backward)


def _turned(ctx: RealBuilder, x: Tensor, axis: int, backward: bool) -> Tensor:
    size = x.shape[axis]
    return take(ctx, x, {axis: (size - 1, -1, size)}) if backward else x


def _shifted(ctx: RealBuilder, x: Tensor, axis: int, distance: int) -> Tensor:
    """X with each element further along an axis, and ones before them."""
    pads = [(0, 0)] * len(x.shape)
    pads[axis] = (distance, -distance)
    return padded(ctx, x, pads, PadMode.CONSTANT, 1.0)


def power(ctx: RealBuilder, base: Tensor, exponent: Tensor, name: str) -> Tensor:
    """One tensor to the power of another, numpy broadcasting; one of them is constant.

    Args:
        ctx: the graph under construction.
        base: real numbers, positive ones if it is constant.
        exponent: real numbers, or integers.
        name: what names of constants begin with.

    Raises:
        UnsupportedError: neither is constant, or the numbers of one do not do.
    """
    if isinstance(exponent, Constant):
        return _to_constants(ctx, base, exponent, name)
    if not isinstance(base, Constant):
        raise UnsupportedError(
            "its base and its exponent are computed at run time",
            "write it as Exp of the exponent times the Log of the base, if that is positive",
        )
    numbers = base.real().astype(np.float64)
    if not (numbers > 0.0).all():
        raise UnsupportedError(
            "its base is not positive and its exponent computed at run time", "take a positive base"
        )
    if exponent.dtype is DType.INT32:
        exponent = ctx.emit(ops.Cast(), exponent, dtype=DType.FLOAT32)
    logarithms = Constant(f"{name}/log", np.log(numbers).astype(np.float32))
    return ctx.emit(ops.Unary(UnaryKind.EXP), ctx.emit(ops.Mul(), exponent, logarithms))


def _to_constants(ctx: RealBuilder, base: Tensor, exponent: Constant, name: str) -> Tensor:
    numbers = exponent.real()
    found = [float(number) for number in np.unique(numbers)]
    if not found or len(found) > _MOST_EXPONENTS or not np.isfinite(found).all():
        raise UnsupportedError(
            f"it has {len(found)} different exponents, or one that is no number",
            f"use {_MOST_EXPONENTS} at most",
        )
    y = _to_one(ctx, base, found[0])
    for index, number in enumerate(found[1:]):
        where = Constant(f"{name}/exponent{index}", numbers == np.float32(number))
        y = chosen(ctx, where, _to_one(ctx, base, number), y)
    return y


def _to_one(ctx: RealBuilder, x: Tensor, exponent: float) -> Tensor:
    if exponent == 1.0:
        return x
    if exponent == 0.5:
        return ctx.emit(ops.Unary(UnaryKind.SQRT), x)
    if exponent == -0.5:
        # In two steps: normalizations are recognised by them.
        return ctx.emit(ops.Unary(UnaryKind.RECIPROCAL), ctx.emit(ops.Unary(UnaryKind.SQRT), x))
    return ctx.emit(ops.Unary(UnaryKind.POW, alpha=exponent), x)
