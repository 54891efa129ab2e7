"""Functions of one tensor that several element operators, or one with constants, make up.

Products of many elements, and powers, made of products of two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.importers.common.builder import RealBuilder
from edgec.importers.common.gathered import padded, take
from edgec.importers.common.masks import chosen
from edgec.importers.common.tensors import Tensor, UnsupportedError
from edgec.ir import ops
from edgec.ir.graph import Constant, Value
from edgec.ir.ops import PadMode, UnaryKind


def prelu(ctx: RealBuilder, x: Value, slopes: Constant) -> Tensor:
    """X where it is positive, else x times a slope that broadcasts against it.

    Slopes that vary along several axes become slopes of one axis, the elements of which x then is.

    Args:
        ctx: the graph under construction.
        x: float32 value.
        slopes: real numbers, or codes that keep their meaning; at most as many axes as x.

    Raises:
        UnsupportedError: the slopes do not broadcast to the shape of x.
    """
    slope, quant = slopes.array, slopes.quant
    if slope.size == 1 and quant is None:
        alpha = float(slope.reshape(-1)[0])
        return ctx.emit(ops.Unary(UnaryKind.LEAKY_RELU, alpha=alpha), x)
    offset = len(x.shape) - slope.ndim
    shape = (1,) * offset + slope.shape
    if offset < 0 or any(own not in (1, size) for own, size in zip(shape, x.shape, strict=True)):
        raise UnsupportedError(
            f"the slope {list(slope.shape)} does not fit {list(x.shape)}", "correct the model"
        )
    axes = [axis for axis, size in enumerate(shape) if size != 1]
    if not axes:
        flat = Constant(slopes.name, np.broadcast_to(slope.reshape(-1), x.shape[-1:]), quant)
        return ctx.emit(ops.PRelu(), x, flat)
    if len(axes) == 1:
        flat = Constant(slopes.name, slope.reshape(-1), quant)
        return ctx.axis_back(ctx.emit(ops.PRelu(), ctx.axis_last(x, axes[0]), flat), axes[0])
    first = axes[0]
    rows = ctx.reshape(x, (*x.shape[:first], math.prod(x.shape[first:])))
    full = np.broadcast_to(slope.reshape(shape)[(0,) * first], x.shape[first:])
    return ctx.reshape(
        ctx.emit(ops.PRelu(), rows, Constant(slopes.name, full.reshape(-1), quant)), x.shape
    )


def of_single_elements(ctx: RealBuilder, kind: ops.ReduceKind, x: Value) -> Tensor:
    """A reduction over no axes: of each element by itself."""
    if kind in (ops.ReduceKind.L1, ops.ReduceKind.L2):
        return ctx.emit(ops.Unary(UnaryKind.ABS), x)
    if kind is ops.ReduceKind.SUM_SQUARE:
        return ctx.emit(ops.Unary(UnaryKind.POW, alpha=2.0), x)
    return x


def quotient(ctx: RealBuilder, dividend: Tensor, divisor: Tensor) -> Tensor:
    """One tensor over another, numpy broadcasting; a constant divisor has no zeros.

    Raises:
        UnsupportedError: a constant divisor has.
    """
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


def hardmax(ctx: RealBuilder, x: Tensor, name: str) -> Value:
    """1 at the first largest element along the last axis, else 0.

    Args:
        ctx: the graph under construction.
        x: float32.
        name: what names of constants begin with.
    """
    last = len(x.shape) - 1
    index = ctx.emit(ops.ArgMax(last), x, dtype=DType.INT32)
    places = Constant(f"{name}/places", np.arange(x.shape[-1], dtype=np.float32))
    where = ctx.emit(ops.Compare(ops.CompareKind.EQUAL), index, places, dtype=DType.INT32)
    return ctx.emit(ops.Cast(), where, dtype=DType.FLOAT32)


def top_k(ctx: RealBuilder, x: Value, axis: int, k: int, largest: bool) -> tuple[Tensor, Tensor]:
    """The k largest or smallest elements along an axis, and where they are.

    Raises:
        UnsupportedError: there are not as many.
    """
    if not 0 < k <= x.shape[axis]:
        raise UnsupportedError(f"it takes {k} of {x.shape[axis]} elements", "correct the model")
    rows = ctx.axis_last(x, axis)
    values = ctx.emit(ops.TopK(k, largest), rows)
    places = ctx.emit(ops.TopK(k, largest, indices=True), rows, dtype=DType.INT32)
    return ctx.axis_back(values, axis), ctx.axis_back(places, axis)


def resampled(ctx: RealBuilder, x: Tensor, axis: int, weights: Array, name: str) -> Tensor:
    """X with every place along an axis a weighted sum of its places.

    Args:
        ctx: the graph under construction.
        x: float32.
        axis: non-negative.
        weights: [places of the output, places of x].
        name: what the weights are called.

    Raises:
        UnsupportedError: there are too many weights.
    """
    if weights.size > _MOST_WEIGHTS:
        raise UnsupportedError(
            f"it makes {weights.shape[0]} cells of {weights.shape[1]} with a weight for each pair",
            "resize with mode linear or nearest",
        )
    matrix = Constant(name, weights.astype(np.float32))
    return ctx.axis_back(ctx.emit(ops.Gemm(), ctx.axis_last(x, axis), matrix, None), axis)


def extreme(ctx: RealBuilder, operands: Sequence[Tensor], largest: bool) -> Tensor:
    """The largest or the smallest of several tensors, element by element; numpy broadcasting.

    Raises:
        UnsupportedError: nothing is computed.
    """
    values = [operand for operand in operands if isinstance(operand, Value)]
    if not values:
        raise UnsupportedError("all operands are constants", "fold constants before the export")
    attrs = ops.Maximum() if largest else ops.Minimum()
    y = values[0]
    for value in values[1:]:
        y = ctx.emit(attrs, y, value)
    for constant in (operand for operand in operands if isinstance(operand, Constant)):
        y = _bounded(ctx, y, constant, largest)
    return y


def _bounded(ctx: RealBuilder, y: Value, bound: Constant, largest: bool) -> Value:
    if bound.array.size == 1 and len(bound.shape) <= len(y.shape):
        number = float(bound.real().reshape(-1)[0])
        if math.isnan(number):
            raise UnsupportedError("a bound is no number", "correct the model")
        low, high = (number, math.inf) if largest else (-math.inf, number)
        return ctx.emit(ops.Clip(low, high), y)
    return ctx.emit(ops.Maximum() if largest else ops.Minimum(), y, bound)


def log_sum_exp(ctx: RealBuilder, x: Value, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    """The logarithm of the sum of exponentials over axes, which do not overflow."""
    largest = ctx.emit(ops.Reduce(ops.ReduceKind.MAX, axes), x)
    powers = ctx.emit(ops.Unary(UnaryKind.EXP), ctx.emit(ops.Sub(), x, largest))
    total = ctx.emit(ops.Reduce(ops.ReduceKind.SUM, axes), powers)
    y = ctx.emit(ops.Add(), ctx.emit(ops.Unary(UnaryKind.LOG), total), largest)
    return y if keepdims else ctx.reshape(y, [s for i, s in enumerate(x.shape) if i not in axes])


def cumulative_sum(
    ctx: RealBuilder, x: Value, axis: int, exclusive: bool, backward: bool, name: str
) -> Tensor:
    """Sums of all elements up to each along an axis, as a product with a triangle of ones.

    Args:
        ctx: the graph under construction.
        x: float32 value.
        axis: non-negative.
        exclusive: an element does not count in its own sum.
        backward: sums start at the end.
        name: what the triangle is called.

    Raises:
        UnsupportedError: the axis is too long.
    """
    size = x.shape[axis]
    if size > _LONGEST_SUM:
        raise UnsupportedError(
            f"it sums up {size} elements one by one; {_LONGEST_SUM} is the most",
            "sum in blocks, or leave it to the caller",
        )
    ones = np.tri(size, k=-1 if exclusive else 0, dtype=np.float32)
    weight = Constant(name, ones.T if backward else ones)
    return ctx.axis_back(ctx.emit(ops.Gemm(), ctx.axis_last(x, axis), weight, None), axis)


_MOST_WEIGHTS = 1 << 18
"""Most weights of a sampling that is written as a product of matrices."""
_LONGEST_SUM = 512
"""Longest axis of a cumulative sum: its weights are the square of that."""


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
