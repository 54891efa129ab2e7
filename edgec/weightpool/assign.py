"""Assignment of pool vectors to the positions of a layer, by the error of the layer's output.

Positions are decided one after the other, each error made up for by the positions still open
(`fitting.feedback`).  `descend` then decides each position anew with all others fixed, until little
changes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.portable_algebra import quick_product
from edgec.layererror.feedback import Plan, feedback_plan, with_feedback
from edgec.layererror.objective import Objective
from edgec.weightpool.additive import closest

_SCALE_STEPS = 3
_SWEEPS = 4
LEAST_SCALE = 2.0**-10
"""The least scale of a filter, relative to the largest of its layer.

A dead filter needs a positive scale, too, and one with which its bias fits 32 bits in units of the
accumulator.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """A layer in a pool.

    Attributes:
        indices: int64 [O, P, terms].
        scale: float64 [O], positive.
    """

    indices: Array
    scale: Array

    def rows(self, pool: Array) -> Array:
        """The real weights [O, K] with a pool [S, G]."""
        return np.asarray(self.scale[:, None] * codes(self.indices, pool))


def codes(indices: Array, pool: Array) -> Array:
    """Weights [O, K] before scaling, of indices [O, P, terms]."""
    return np.asarray(pool[indices].sum(axis=2).reshape(len(indices), -1))


def assign(objective: Objective, pool: Array, terms: int, scale: Array | None = None) -> Assignment:
    """A layer from scratch: feedback, scale, descent.

    Args:
        objective: the layer's error.
        pool: float64 [S, G].
        terms: pool vectors that are added up to one of the layer.
        scale: float64 [O], positive, to start with; None: the mean squares say it.
    """
    if scale is None:
        scale = _first_scale(objective, pool) / math.sqrt(terms)
    plan = feedback_plan(objective, pool.shape[1])
    for _ in range(_SCALE_STEPS):
        indices = _fed_back(objective, pool, scale, plan, terms)
        scale = refitted(objective, codes(indices, pool), scale)
    return descend(objective, pool, Assignment(indices, scale))


def _first_scale(objective: Objective, pool: Array) -> Array:
    """Root mean squares: of each filter over that of the pool."""
    size = np.sqrt(np.mean(pool**2)) or 1.0
    return _positive(np.sqrt(np.mean(objective.target**2, axis=1)) / size)


def _positive(scale: Array) -> Array:
    """Scales [O] of a layer, none below `LEAST_SCALE`; if all are 0, some tiny number."""
    return np.maximum(scale, LEAST_SCALE * (scale.max() or LEAST_SCALE))


def refitted(objective: Objective, rows: Array, scale: Array) -> Array:
    """The scale [O] of least error for codes [O, K]; where none is positive, the scale given."""
    smoothed = quick_product(rows, objective.hessian)
    along = np.sum(smoothed * objective.target, axis=1)
    length = np.sum(smoothed * rows, axis=1)
    good = (along > 0) & (length > 0)
    return _positive(np.where(good, along / np.where(good, length, 1.0), scale))


def _fed_back(objective: Objective, pool: Array, scale: Array, plan: Plan, terms: int) -> Array:
    """Indices [O, P, terms], position by position, the rest making up for each error."""
    indices = np.zeros((len(objective.target), len(plan.order), terms), np.int64)

    def decide(position: int, rows: Array, whitening: Array) -> Array:
        wanted = quick_product(rows, whitening)
        offered = quick_product(pool, whitening)
        chosen = closest(wanted, offered, scale, terms)
        indices[:, position] = chosen
        return np.asarray(scale[:, None] * pool[chosen].sum(axis=1))

    with_feedback(objective, plan, decide)
    return indices


def descend(objective: Objective, pool: Array, start: Assignment) -> Assignment:
    """Decide every term again, with all others as they are, and the scales; a few sweeps."""
    group = pool.shape[1]
    indices, scale = start.indices.copy(), start.scale
    hessian, target = objective.hessian, objective.target
    for _ in range(_SWEEPS):
        rows = scale[:, None] * codes(indices, pool)
        changed = 0
        for position in range(indices.shape[1]):
            here = slice(position * group, (position + 1) * group)
            own = hessian[here, here]
            lengths = np.sum(quick_product(pool, own) * pool, axis=1)
            for term in range(indices.shape[2]):
                before = scale[:, None] * pool[indices[:, position, term]]
                gap = rows - target
                pull = quick_product(gap, hessian[:, here]) - quick_product(before, own)
                cost = scale[:, None] * lengths + 2 * quick_product(pull, pool.T)
                chosen = np.argmin(cost, axis=1)
                changed += int(np.count_nonzero(chosen != indices[:, position, term]))
                indices[:, position, term] = chosen
                rows[:, here] = scale[:, None] * pool[indices[:, position]].sum(axis=1)
        scale = refitted(objective, codes(indices, pool), scale)
        if not changed:
            break
    return Assignment(indices, scale)
