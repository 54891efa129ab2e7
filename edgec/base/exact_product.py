"""Sums of products with the same bits on every computer.

A BLAS library adds in the order, and fuses multiplications with additions, as suits the processor
it runs on, so the last digits of its results differ between computers.  Here the operands are
first rounded to whole numbers of so few bits that no partial sum exceeds 2^53.  Float64 holds all
of these exactly, and every order of summation gives the same number.

The left operand is rounded to 24 bits below the largest magnitude of its row, the right one to 39
bits below the largest of its column: about what float32 holds, and more.  `product` takes the left
operand in two parts and so comes within about 2^-39.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.dtypes import Array

_LEFT_BITS = 24
_RIGHT_BITS = 19
_SECOND_BITS = _RIGHT_BITS + 1
"""Distance between the two parts of a right operand: the remainder of rounding is half a unit."""
_TERMS = 1 << (53 - _LEFT_BITS - _RIGHT_BITS)
"""Products that are summed at a time: 24 + 19 + 10 bits make 53."""
_LARGEST_EXPONENT = 900


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """A left operand: ``x`` is about ``whole * step``.

    Attributes:
        whole: float64, whole numbers of at most 2^24.
        step: float64, powers of two, broadcast against `whole`.
    """

    whole: Array
    step: Array


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """A right operand in two parts: ``x`` is about ``(first + second * 2^-20) * step``.

    Attributes:
        whole: float64 [..., K, 2 * N], whole numbers of at most 2^19; `first`, then `second`.
        step: float64 [..., 1, N], powers of two.
    """

    whole: Array
    step: Array


def rows(x: Array, axes: int | tuple[int, ...] = -1) -> Rows:
    """A left operand whose slices along `axes` have a step each."""
    step = _step(x, axes, _LEFT_BITS)
    return Rows(np.rint(x * (1.0 / step)), step)


def columns(x: Array) -> Columns:
    """A right operand float [..., K, N]."""
    step = _step(x, -2, _RIGHT_BITS)
    scaled = x * (1.0 / step)
    first = np.rint(scaled)
    second = np.rint((scaled - first) * 2.0**_SECOND_BITS)
    return Columns(np.concatenate([first, second], axis=-1), step)


def whole_product(left: Array, right: Columns) -> Array:
    """``left @ right`` in units of the left operand's step; float64 [..., M, N].

    Args:
        left: `Rows.whole` [..., M, K], or a rearrangement of it.
        right: of K rows.
    """
    count = right.step.shape[-1]
    total: Array | None = None
    for start in range(0, left.shape[-1], _TERMS):
        part = slice(start, start + _TERMS)
        both = np.matmul(left[..., part], right.whole[..., part, :])
        both[..., :count] += both[..., count:] * 2.0**-_SECOND_BITS
        total = both[..., :count] if total is None else total + both[..., :count]
    if total is None:
        shape = np.broadcast_shapes(left.shape[:-2], right.whole.shape[:-2])
        total = np.zeros((*shape, left.shape[-2], count))
    return np.asarray(total * right.step)


def quick_product(a: Array, b: Array) -> Array:
    """``a @ b`` of float [..., M, K] and [..., K, N], about as accurate as in float32."""
    left = rows(a)
    return whole_product(left.whole, columns(b)) * left.step


def product(a: Array, b: Array) -> Array:
    """``a @ b`` of float [..., M, K] and [..., K, N], nearly as accurate as in float64."""
    right = columns(b)
    first = rows(a)
    rest = rows(a - first.whole * first.step)
    high = whole_product(first.whole, right) * first.step
    return np.asarray(high + whole_product(rest.whole, right) * rest.step)


def _step(x: Array, axes: int | tuple[int, ...], bits: int) -> Array:
    """Powers of two: the least with ``|x| / step <= 2**bits`` along `axes`."""
    largest = np.abs(x).max(axis=axes, keepdims=True, initial=0.0)
    _, exponent = np.frexp(largest)
    limited = np.clip(exponent - bits, -_LARGEST_EXPONENT, _LARGEST_EXPONENT)
    return np.ldexp(1.0, limited)
