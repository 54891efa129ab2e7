"""Triangular factors and inverses with the same bits on every computer.

LAPACK's depend on the processor, as the sums of BLAS do.  These work on blocks: inside a block by
operations on whole columns, between blocks by `exact_product.product`.
"""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.exact_product import product

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
