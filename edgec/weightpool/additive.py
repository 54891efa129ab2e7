"""Sums of a few pool vectors that are closest to wanted vectors.

The best sum is hard to find (Babenko & Lempitsky, "Additive Quantization", CVPR 2014).  A beam
search keeps the best partial sums of each row; then each term is chosen anew with the others fixed.
"""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.portable_algebra import Scaled, quick_product_of, scaled

_BEAM = 16
"""Partial sums that are kept of each row."""
_SWEEPS = 3


def closest(wanted: Array, offered: Array, scale: Array, terms: int) -> Array:
    """For each row o the terms s of little ``|wanted[o] - scale[o] * sum of offered[s]|``.

    Args:
        wanted: float64 [O, G].
        offered: float64 [S, G].
        scale: float64 [O], positive.
        terms: vectors of a sum.

    Returns:
        int64 [O, terms]; with one term the closest vector.
    """
    lengths = np.sum(offered**2, axis=1)
    pool = scaled(offered.T, -2, offered.shape[1])
    if terms == 1:
        cost = scale[:, None] * lengths - 2 * quick_product_of(wanted, pool)
        return np.asarray(np.argmin(cost, axis=1)[:, None])
    target = wanted / scale[:, None]
    chosen = _beam(target, offered, pool, lengths, terms)
    for _ in range(_SWEEPS):
        before = chosen.copy()
        for term in range(terms):
            others = np.delete(chosen, term, axis=1)
            gap = target - offered[others].sum(axis=1)
            chosen[:, term] = np.argmin(lengths - 2 * quick_product_of(gap, pool), axis=1)
        if np.array_equal(chosen, before):
            break
    return np.asarray(chosen)


def _beam(target: Array, offered: Array, pool: Scaled, lengths: Array, terms: int) -> Array:
    """The best of the sums that a beam search finds: int64 [O, terms]."""
    rows, size = len(target), len(offered)
    gaps = target[:, None, :]
    chosen = np.zeros((rows, 1, 0), np.int64)
    for term in range(terms):
        beam = gaps.shape[1]
        near = quick_product_of(gaps.reshape(rows * beam, -1), pool).reshape(rows, beam, size)
        cost = (np.sum(gaps**2, axis=2)[:, :, None] + lengths - 2 * near).reshape(rows, -1)
        kept = 1 if term == terms - 1 else min(_BEAM, cost.shape[1])
        best = _least(cost, kept)
        partial, vector = np.divmod(best, size)
        each = np.arange(rows)[:, None]
        chosen = np.concatenate([chosen[each, partial], vector[:, :, None]], axis=2)
        gaps = gaps[each, partial] - offered[vector]
    return np.asarray(chosen[:, 0])


def _least(cost: Array, count: int) -> Array:
    """Columns of the `count` least costs of each row, least first, then in order: [O, count].

    The last term needs one only, of the most sums: there a sort takes longer than all else.
    """
    if count == 1:
        return np.asarray(np.argmin(cost, axis=1)[:, None])
    return np.asarray(np.argsort(cost, axis=1, kind="stable")[:, :count])
