"""The pool itself: int8 vectors within the sums that `ir.weight_pool.WeightPool` asks for."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, round_half_up


def integer_pool(vectors: Array, terms: int = 1) -> tuple[Array, float]:
    """The nearest legal int8 pool.

    Args:
        vectors: float64 [S, G].
        terms: most vectors that are added up; any such sum fits int8.

    Returns:
        int8 [S, G] and the unit, a float32 number: ``vectors`` is about ``unit * codes``.  The
        unit is the least at which no vector's positive or negative entries sum up to too much, and
        no entry is beyond the bounds of int8 divided by the terms.
    """
    above, below = np.maximum(vectors, 0), np.maximum(-vectors, 0)
    high, low = INT8_MAX // terms, -INT8_MIN // terms
    sums = above.sum(1).max(initial=0.0) / INT8_MAX, below.sum(1).max(initial=0.0) / -INT8_MIN
    entries = above.max(initial=0.0) / high, below.max(initial=0.0) / low
    unit = float(np.float32(max(*sums, *entries)))
    if unit < np.finfo(np.float32).tiny:
        return np.zeros(vectors.shape, np.int8), 1.0
    steps = vectors / unit
    codes = round_half_up(steps).astype(np.int64).clip(-low, high)
    # Rounding can exceed a sum by a few; towards zero it never does.
    wrong = ~legal(codes)
    codes[wrong] = np.trunc(steps[wrong] * (1 - 1e-6)).astype(np.int64)
    return codes.astype(np.int8), unit


def legal(codes: Array) -> Array:
    """Bool [S]: whether the sums of whole numbers [S, G] are those of a pool vector."""
    high, low = np.maximum(codes, 0).sum(1), np.minimum(codes, 0).sum(1)
    return np.asarray((high <= INT8_MAX) & (low >= INT8_MIN))


def mirrored(half: Array) -> Array:
    """A pool whose second half is the negative of its first."""
    return np.concatenate([half, -half])
