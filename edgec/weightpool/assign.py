"""Which vector of the pool stands where, by the error of the layer's output.

Source of `with_feedback`: Frantar et al., "GPTQ", ICLR 2023, with vectors in the place of single
weights as in van Baalen et al., "GPTVQ", 2024: positions are decided one after the other, each
error is made up for by the positions still open.  `descend` then decides each position anew with
all others fixed, until little changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.dtypes import Array
from edgec.weightpool.moments import Objective

_SCALE_STEPS = 3
_SWEEPS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """A layer in a pool.

    Attributes:
        indices: int64 [O, P].
        scale: float64 [O], positive.
    """

    indices: Array
    scale: Array

    def rows(self, pool: Array) -> Array:
        """The real weights [O, K] with a pool [S, G]."""
        return np.asarray(self.scale[:, None] * codes(self.indices, pool))


def codes(indices: Array, pool: Array) -> Array:
    """Weights [O, K] before scaling."""
    return np.asarray(pool[indices].reshape(len(indices), -1))


def assign(objective: Objective, pool: Array) -> Assignment:
    """A layer from scratch: feedback, scale, descent.

    Args:
        objective: the layer's error.
        pool: float64 [S, G].
    """
    scale = _first_scale(objective, pool)
    for _ in range(_SCALE_STEPS):
        indices = with_feedback(objective, pool, scale)
        scale = refitted(objective, codes(indices, pool), scale)
    return descend(objective, pool, Assignment(indices, scale))


def _first_scale(objective: Objective, pool: Array) -> Array:
    """Root mean squares: of each filter over that of the pool."""
    size = np.sqrt(np.mean(pool**2)) or 1.0
    found = np.sqrt(np.mean(objective.target**2, axis=1)) / size
    return np.where(found > 0, found, 1.0)


def refitted(objective: Objective, rows: Array, scale: Array) -> Array:
    """The scale [O] of least error for codes [O, K]; where none is positive, the scale given."""
    smoothed = rows @ objective.hessian
    along = np.sum(smoothed * objective.target, axis=1)
    length = np.sum(smoothed * rows, axis=1)
    good = (along > 0) & (length > 0)
    return np.where(good, along / np.where(good, length, 1.0), scale)


def with_feedback(objective: Objective, pool: Array, scale: Array) -> Array:
    """Indices [O, P], position by position, the rest making up for each error."""
    rows = objective.target.copy()
    group = pool.shape[1]
    positions = rows.shape[1] // group
    order = _by_importance(objective.hessian, group)
    element = (order[:, None] * group + np.arange(group)).reshape(-1)
    upper = _inverse_root(objective.hessian[np.ix_(element, element)])
    rows = rows[:, element]
    indices = np.zeros((len(rows), positions), np.int64)
    for step, position in enumerate(order):
        here = slice(step * group, (step + 1) * group)
        whitening = np.linalg.inv(upper[here, here])
        wanted, offered = rows[:, here] @ whitening, pool @ whitening
        chosen = _closest(wanted, offered, scale)
        indices[:, position] = chosen
        rest = slice((step + 1) * group, None)
        rows[:, rest] -= (wanted - scale[:, None] * offered[chosen]) @ upper[here, rest]
    return indices


def _by_importance(hessian: Array, group: int) -> Array:
    """Positions, those first whose errors cost most."""
    return np.argsort(-np.diag(hessian).reshape(-1, group).sum(1), kind="stable")


def _inverse_root(hessian: Array) -> Array:
    """Upper triangular U with ``U.T @ U = inverse(hessian)``."""
    inverse = np.linalg.inv(hessian)
    return np.asarray(np.linalg.cholesky((inverse + inverse.T) / 2).T)


def _closest(wanted: Array, offered: Array, scale: Array) -> Array:
    """For each row o the s of least ``|wanted[o] - scale[o] * offered[s]|``."""
    lengths = np.sum(offered**2, axis=1)
    cost = scale[:, None] * lengths - 2 * (wanted @ offered.T)
    return np.asarray(np.argmin(cost, axis=1))


def descend(objective: Objective, pool: Array, start: Assignment) -> Assignment:
    """Decide every position again, with all others as they are, and the scales; a few sweeps."""
    group = pool.shape[1]
    indices, scale = start.indices.copy(), start.scale
    hessian, target = objective.hessian, objective.target
    for _ in range(_SWEEPS):
        rows = scale[:, None] * codes(indices, pool)
        changed = 0
        for position in range(indices.shape[1]):
            here = slice(position * group, (position + 1) * group)
            own = hessian[here, here]
            gap = rows - target
            pull = gap @ hessian[:, here] - rows[:, here] @ own
            cost = scale[:, None] * np.sum((pool @ own) * pool, axis=1) + 2 * (pull @ pool.T)
            chosen = np.argmin(cost, axis=1)
            changed += int(np.count_nonzero(chosen != indices[:, position]))
            indices[:, position] = chosen
            rows[:, here] = scale[:, None] * pool[chosen]
        scale = refitted(objective, codes(indices, pool), scale)
        if not changed:
            break
    return Assignment(indices, scale)
