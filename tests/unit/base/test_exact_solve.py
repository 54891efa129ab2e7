"""Factors and inverses of `base.portable_algebra`, beside LAPACK's."""

from __future__ import annotations

import numpy as np
import pytest

from edgec.base.portable_algebra import cholesky, inverse_of_lower, inverse_of_positive


def positive(size: int) -> np.ndarray:
    """A covariance with a spread of sizes, damped as weight pools damp theirs."""
    rng = np.random.default_rng(size)
    rows = rng.normal(size=(3 * size, size)) * np.exp(rng.normal(size=size))
    matrix = rows.T @ rows / len(rows)
    return matrix + 0.05 * np.trace(matrix) / size * np.eye(size)


@pytest.mark.parametrize("size", [1, 8, 63, 64, 65, 200])
def test_factors_and_inverses(size):
    matrix = positive(size)
    factor = cholesky(matrix)
    np.testing.assert_array_equal(factor, np.tril(factor))
    np.testing.assert_allclose(factor, np.linalg.cholesky(matrix), rtol=0, atol=1e-9)
    lower = inverse_of_lower(factor)
    np.testing.assert_allclose(lower @ factor, np.eye(size), atol=1e-9)
    inverse = inverse_of_positive(matrix)
    np.testing.assert_array_equal(inverse, inverse.T)
    np.testing.assert_allclose(inverse @ matrix, np.eye(size), atol=1e-8)
