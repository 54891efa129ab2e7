"""Gain from swapping two channels: distances of vectors to a pool, kept up to date.

Distances are whole numbers, so that nothing is rounded however many swaps follow each other, and
every computer takes the same ones.
"""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array

_UNIT = 1 / 64
"""Step of weights, of which a filter's root mean square is 1."""
_LARGEST = 1023
"""Bound of the codes of weights and vectors, and of the worth of a row."""


class Swaps:
    """Rows of weights whose channels change places, and a pool that stays as it is.

    With codes of at most 2^10 and vectors of at most 16 of them a distance has less than 2^27, and
    the sum over 2^20 rows of a worth of at most 2^10 less than 2^57.
    """

    def __init__(self, rows: Array, worth: Array, pool: Array) -> None:
        """Nothing is swapped yet.

        Args:
            rows: float64 [R, C], weights of root mean square 1.
            worth: float64 [R], not negative: what the squared error of a row counts.
            pool: float64 [S, G]; G divides C.
        """
        group = pool.shape[1]
        self._group = group
        self._codes = np.ascontiguousarray(_codes(rows).T)
        self._worth = np.rint(worth * (_LARGEST / (worth.max() or 1.0))).astype(np.int64)
        vectors = _codes(pool)
        self._twice = np.ascontiguousarray(2 * vectors.T)
        # Without the squares of the weights, which are the same for all vectors.
        powers = np.asarray(np.sum(vectors**2, axis=1, dtype=np.int32))[:, None]
        grouped = self._codes.reshape(-1, group, len(rows))
        self._distances = powers - np.einsum("is,kir->ksr", self._twice, grouped)
        self._errors = self._distances.min(axis=1)

    @property
    def power(self) -> int:
        """The worth of the squared weights, in the unit of gains."""
        return int(np.sum(self._codes.astype(np.int64) ** 2 * self._worth))

    def swap(self, first: int, second: int, least: int) -> bool:
        """Swap two channels if it gains enough.

        Args:
            first, second: two places.
            least: what the squared error must fall by; negative: it may rise by as much.

        Returns:
            Whether they were swapped.
        """
        more = self._codes[second] - self._codes[first]
        (one, i), (other, j) = divmod(first, self._group), divmod(second, self._group)
        if one == other:
            changes = {one: self._twice[j] - self._twice[i]}
        else:
            changes = {one: -self._twice[i], other: self._twice[j]}
        gain, found = 0, []
        for k, change in changes.items():
            distances = self._distances[k] + np.multiply.outer(change, more)
            errors = distances.min(axis=0)
            gain += int(np.sum((self._errors[k] - errors) * self._worth))
            found.append((k, distances, errors))
        if gain <= least:
            return False
        for k, distances, errors in found:
            self._distances[k], self._errors[k] = distances, errors
        self._codes[[first, second]] = self._codes[[second, first]]
        return True


def _codes(x: Array) -> Array:
    """Whole numbers, int32, in units of `_UNIT`."""
    return np.clip(np.rint(x / _UNIT), -_LARGEST, _LARGEST).astype(np.int32)
