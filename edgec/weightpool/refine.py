"""The pool of least error for given assignments: conjugate gradients on all layers at once.

With assignments and scales fixed, every layer's error is quadratic in the pool's entries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.portable_algebra import quick_product
from edgec.layererror.objective import Objective
from edgec.weightpool.assign import Assignment
from edgec.weightpool.codebook import mirrored

_STEPS = 20
_RIDGE = 1e-6
"""Keeps entries that nothing uses where they are."""


def refined_pool(
    pool: Array,
    objectives: Sequence[Objective],
    assignments: Sequence[Assignment],
    *,
    signed: bool,
) -> Array:
    """The pool [S, G] that makes the sum of the layers' relative errors least.

    Args:
        pool: float64 [S, G], where to start from.
        objectives: the objective of each layer.
        assignments: assignments of the same layers.
        signed: keep the second half the negative of the first.
    """
    weights = [1.0 / each.power if each.power > 0 else 0.0 for each in objectives]

    def product(vectors: Array) -> Array:
        """Curvature of the error times a change of the pool."""
        total = _RIDGE * vectors
        for objective, found, weight in zip(objectives, assignments, weights, strict=True):
            rows = quick_product(found.rows(vectors), objective.hessian)
            total = total + weight * _gathered(rows, found, len(pool), pool.shape[1])
        return projected(total)

    def projected(vectors: Array) -> Array:
        half = len(vectors) // 2
        return mirrored((vectors[:half] - vectors[half:]) / 2) if signed else vectors

    slope = np.zeros(pool.shape)
    for objective, found, weight in zip(objectives, assignments, weights, strict=True):
        rows = quick_product(objective.target - found.rows(pool), objective.hessian)
        slope += weight * _gathered(rows, found, len(pool), pool.shape[1])
    return np.asarray(pool + _solved(product, projected(slope)))


def _gathered(rows: Array, found: Assignment, size: int, group: int) -> Array:
    """Sum over all uses of each entry: the transpose of `Assignment.rows`."""
    scaled = (found.scale[:, None] * rows).reshape(-1, group)
    scaled = np.repeat(scaled, found.indices.shape[2], axis=0)
    index = found.indices.reshape(-1)
    return np.stack([np.bincount(index, scaled[:, g], size) for g in range(group)], axis=1)


def _solved(product: Callable[[Array], Array], slope: Array) -> Array:
    """``product(x) = slope`` by conjugate gradients."""
    x, residual = np.zeros(slope.shape), slope
    direction, size = residual, float(np.sum(residual**2))
    for _ in range(_STEPS):
        if size <= 0:
            break
        curved = product(direction)
        step = size / float(np.sum(direction * curved))
        x = x + step * direction
        residual = residual - step * curved
        next_size = float(np.sum(residual**2))
        direction, size = residual + next_size / size * direction, next_size
    return x
