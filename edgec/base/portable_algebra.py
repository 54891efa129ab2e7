"""Sums of products, factors and inverses of matrices with the same bits on every computer.

A BLAS library adds in the order, and fuses multiplications with additions, as suits the processor
it runs on, so the last digits of its results differ between computers.  Here the operands are
first rounded to whole numbers of so few bits that no partial sum exceeds 2^53.  Float64 holds all
of these exactly, and every order of summation gives the same number.

For sums of K products each operand keeps ``(53 - log2 K) / 2`` bits below its largest magnitude: 24
bits for K = 32, 22 for K = 512.  That is as accurate as float32.  `product` takes both operands in
two such parts and is nearly as accurate as float64.

Triangular factors and inverses of LAPACK depend on the processor, too.  These work on blocks:
inside a block by operations on whole columns, between blocks by `product`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array

_EXACT_BITS = 53
_TERMS = 1 << 10
"""Products that are summed exactly; longer sums add the sums of parts, in their order."""
_LARGEST_EXPONENT = 900


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """An operand: ``x`` is about ``whole * step``.

    Attributes:
        whole: float64, whole numbers.
        step: float64, powers of two, broadcast against `whole`.
    """

    whole: Array
    step: Array

    @property
    def real(self) -> Array:
        """Real numbers that the scaled whole numbers represent."""
        return np.asarray(self.whole * self.step)


def scaled(x: Array, axes: int | tuple[int, ...], terms: int) -> Scaled:
    """An operand of sums of `terms` products, with one step for each slice along `axes`."""
    exponent = step_exponent(x, axes, terms)
    whole = x * np.ldexp(1.0, -exponent)
    return Scaled(np.rint(whole, out=whole), np.ldexp(1.0, exponent))


def step_exponent(x: Array, axes: int | tuple[int, ...], terms: int) -> Array:
    """Exponents of the steps of `scaled`: int, of the shape of `x` with 1 along `axes`."""
    bits = _bits(terms)
    # Without an array of magnitudes, which takes longer than both extremes.
    if axes == -2 and x.shape[-2]:
        low, high = extremes_of_columns(x)
    else:
        low, high = (f(x, axis=axes, keepdims=True, initial=0.0) for f in (np.min, np.max))
    return _step_exponent(low, high, bits)


def _bits(terms: int) -> int:
    """Bits of each operand of exact sums of products, the sign left out."""
    return (_EXACT_BITS - (min(terms, _TERMS) - 1).bit_length()) // 2


def _step_exponent(low: Array, high: Array, bits: int) -> Array:
    """Exponents of steps for numbers of extremes, of which zero may be one."""
    _, exponent = np.frexp(np.maximum(np.maximum(high, -low), 0.0))
    # The plain functions: np.clip takes longer than all else for small operands.
    return np.asarray(
        np.minimum(np.maximum(exponent - bits, -_LARGEST_EXPONENT), _LARGEST_EXPONENT)
    )


_SIDE_BY_SIDE, _FEW = 512, 1 << 12
"""Elements for which numpy's loop over a row costs little more than the elements, and elements
that are compared in less time than they are arranged in."""


def extremes_of_columns(x: Array) -> tuple[Array, Array]:
    """Least and largest numbers of the columns of [..., R, K], R > 0; [..., 1, K] each.

    Several short rows are compared side by side: numpy's loops go along rows.
    """
    *outer, rows, width = x.shape
    together = min(rows, max(_SIDE_BY_SIDE // max(width, 1), 1))
    if together > 1 and x.size > _FEW and x.flags.c_contiguous:
        most = rows - rows % together
        wide = x[..., :most, :].reshape(*outer, -1, together * width)
        parts = [wide, x[..., most:, :]] if most < rows else [wide]
        found = [
            np.concatenate([f(each, axis=-2).reshape(*outer, -1, width) for each in parts], axis=-2)
            for f in (np.min, np.max)
        ]
    else:
        found = [x, x]
    low, high = found
    return low.min(axis=-2, keepdims=True), high.max(axis=-2, keepdims=True)


def whole_product(left: Array, right: Array, out: Array | None = None) -> Array:
    """``left @ right`` of whole numbers [..., M, K] and [..., K, N] from `scaled`; exact.

    Args:
        left: float64.
        right: float64.
        out: takes in the product, float64 [..., M, N]; None: a new array does.
    """
    total = np.matmul(left[..., :_TERMS], right[..., :_TERMS, :], out=out)
    for start in range(_TERMS, left.shape[-1], _TERMS):
        part = slice(start, start + _TERMS)
        total += np.matmul(left[..., part], right[..., part, :])
    return np.asarray(total)


_PART, _LEAST_ROWS = 1 << 15, 128
"""Elements of an operand that are multiplied at a time, about, and rows at least."""


def quick_product(a: Array, b: Array) -> Array:
    """``a @ b`` of float64 [..., M, K] and [..., K, N], about as accurate as in float32."""
    return quick_product_of(a, scaled(b, -2, a.shape[-1]))


def quick_product_of(a: Array, right: Scaled) -> Array:
    """`quick_product` with ``right = scaled(b, -2, K)``, which many products may share."""
    rows, terms = a.shape[-2:]
    step = max(_PART // max(terms, 1), _LEAST_ROWS)
    if rows <= step:
        left = scaled(a, -1, terms)
        return np.asarray(whole_product(left.whole, right.whole) * left.step * right.step)
    outer = np.broadcast_shapes(a.shape[:-2], right.whole.shape[:-2])
    y = np.empty((*outer, rows, right.whole.shape[-1]))
    # A row has a step of its own, so parts that fit the processor's cache give the same.
    for start in range(0, rows, step):
        part = slice(start, start + step)
        left = scaled(a[..., part, :], -1, terms)
        sums = whole_product(left.whole, right.whole, y[..., part, :])
        sums *= left.step
        sums *= right.step
    return y


def second_moments(x: Array, mean: Array | float = 0.0) -> Array:
    """``y.T @ y`` with ``y = x - mean``, about as accurate as in float32; symmetric.

    Args:
        x: float64 [..., R, K].
        mean: taken off each row; float64 [..., 1, K].
    """
    terms = x.shape[-2]
    # Rounding keeps order, so these are the extremes of what is left.
    low, high = (each - mean for each in extremes_of_columns(x))
    exponent = _step_exponent(low, high, _bits(terms))
    factor, step = np.ldexp(1.0, -exponent), np.ldexp(1.0, exponent)
    total: Array | float = 0.0
    # In parts that fit the processor's cache, those of `whole_product`.
    for start in range(0, terms, _TERMS):
        whole = x[..., start : start + _TERMS, :] - mean
        whole *= factor
        np.rint(whole, out=whole)
        total = total + np.matmul(whole.swapaxes(-1, -2), whole)
    return np.asarray(total * step.swapaxes(-1, -2) * step)


def product(a: Array, b: Array) -> Array:
    """``a @ b`` of float64 [..., M, K] and [..., K, N], nearly as accurate as in float64."""
    terms = a.shape[-1]
    left, right = scaled(a, -1, terms), scaled(b, -2, terms)
    a_rest, b_rest = scaled(a - left.real, -1, terms), scaled(b - right.real, -2, terms)
    low = whole_product(a_rest.whole, right.whole) * a_rest.step * right.step
    low += whole_product(left.whole, b_rest.whole) * left.step * b_rest.step
    return np.asarray(whole_product(left.whole, right.whole) * left.step * right.step + low)


_BLOCK = 64


def cholesky(matrix: Array) -> Array:
    """The lower triangular L with ``L @ L.T = matrix``.

    Args:
        matrix: float64 [N, N], symmetric and positive definite.
    """
    size = len(matrix)
    factor = np.zeros((size, size))
    for start in range(0, size, _BLOCK):
        here, after = slice(start, start + _BLOCK), slice(start + _BLOCK, None)
        rest = matrix[start:, here] - product(factor[start:, :start], factor[here, :start].T)
        corner = _small_cholesky(rest[:_BLOCK])
        factor[here, here] = corner
        if start + _BLOCK < size:
            factor[after, here] = product(rest[_BLOCK:], _small_inverse(corner).T)
    return factor


def inverse_of_lower(factor: Array) -> Array:
    """The inverse of a lower triangular matrix float64 [N, N]."""
    size = len(factor)
    inverse = np.zeros((size, size))
    for start in range(0, size, _BLOCK):
        here, before = slice(start, start + _BLOCK), slice(None, start)
        corner = _small_inverse(factor[here, here])
        inverse[here, here] = corner
        if start:
            known = product(factor[here, before], inverse[before, before])
            inverse[here, before] = -product(corner, known)
    return inverse


def inverse_of_positive(matrix: Array) -> Array:
    """The inverse of a symmetric, positive definite matrix float64 [N, N]; symmetric."""
    lower = inverse_of_lower(cholesky(matrix))
    inverse = product(lower.T, lower)
    return np.asarray((inverse + inverse.T) / 2)


def _small_cholesky(matrix: Array) -> Array:
    """`cholesky`, a column at a time."""
    rest, factor = matrix.copy(), np.zeros_like(matrix)
    for column in range(len(matrix)):
        values = rest[column:, column] / np.sqrt(rest[column, column])
        factor[column:, column] = values
        rest[column:, column:] -= values[:, None] * values
    return factor


def _small_inverse(factor: Array) -> Array:
    """`inverse_of_lower`, a row at a time."""
    inverse = np.zeros_like(factor)
    for row in range(len(factor)):
        inverse[row, row] = 1.0
        inverse[row] -= (factor[row, :row, None] * inverse[:row]).sum(axis=0)
        inverse[row] /= factor[row, row]
    return inverse
