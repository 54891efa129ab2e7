"""Weights one position after the other, each error made up for by the positions still open.

Source: Frantar et al., "GPTQ", ICLR 2023; a *position* is one weight of each filter, or a vector of
them as in van Baalen et al., "GPTVQ", 2024.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.portable_algebra import cholesky, quick_product
from edgec.layererror.objective import Objective

Decide = Callable[[int, Array, Array], Array]
"""Choice of the weights of a position: takes its number, the weights [O, G] best there, and
whitening [G, G], which makes the error of a difference its length; gives the choice [O, G]."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Order and factors by which feedback goes through the positions of a layer.

    With ``H = R @ R.T`` in the order, R upper triangular, the error of a difference d is the length
    of ``d @ R``.  A position's part of that is made zero by ``d @ R`` of the positions before it,
    over the block of R on the diagonal (Babai's nearest plane, Combinatorica 6 (1986)).

    Attributes:
        order: int64 [P], positions, those first whose errors cost most.
        elements: int64 [K], of these positions.
        passed: float64 [K, K], what a difference moves the best weights after it by, in that order.
        whitening: float64 [P, G, G], blocks on the diagonal of R.
    """

    order: Array
    elements: Array
    passed: Array
    whitening: Array


def feedback_plan(objective: Objective, group: int) -> Plan:
    """The plan of a layer whose positions hold `group` weights."""
    cost = np.diag(objective.hessian).reshape(-1, group).sum(1)
    order = np.argsort(-cost, kind="stable")
    elements = (order[:, None] * group + np.arange(group)).reshape(-1)
    turned = elements[::-1]
    lower = cholesky(objective.hessian[np.ix_(turned, turned)])
    factor = np.ascontiguousarray(lower[::-1, ::-1])
    starts = range(0, len(factor), group)
    whitening = np.stack([factor[i : i + group, i : i + group] for i in starts])
    return Plan(order, elements, _over(factor, whitening), whitening)


def _over(factor: Array, blocks: Array) -> Array:
    """``factor @ inverse(B)`` for each block of columns; B upper triangular, float64 [P, G, G]."""
    columns = factor.reshape(len(factor), len(blocks), -1)
    found = np.empty_like(columns)
    for right in range(columns.shape[-1]):
        rest = columns[..., right].copy()
        for left in range(right):
            rest -= found[..., left] * blocks[:, left, right]
        np.divide(rest, blocks[:, right, right], out=found[..., right])
    return found.reshape(factor.shape)


def with_feedback(objective: Objective, plan: Plan, decide: Decide, together: int = 1) -> None:
    """Have every position decided.

    Args:
        objective: the layer's error; its target is where to start from.
        plan: from `feedback_plan`.
        decide: called once for each position, in the plan's order; keeps its choices.
        together: positions whose errors reach the positions after them at once, which is quicker.
    """
    # A row for each weight: those of a position lie together.
    target = np.ascontiguousarray(objective.target[:, plan.elements].T)
    best = target.copy()
    group = plan.whitening.shape[-1]
    for start in range(0, len(plan.order), together):
        steps = range(start, min(start + together, len(plan.order)))
        first, end = start * group, steps[-1] * group + group
        missed = np.empty((end - first, target.shape[1]))
        for step in steps:
            here, own = (slice(step * group - at, (step + 1) * group - at) for at in (0, first))
            chosen = decide(int(plan.order[step]), best[here].T, plan.whitening[step])
            np.subtract(target[here], chosen.T, out=missed[own])
            if here.stop == end:
                continue
            after = plan.passed[here, here.stop : end].T
            # Products of single terms are exact enough, and alike everywhere, as they are.
            reached = after * missed[own] if group == 1 else quick_product(after, missed[own])
            best[here.stop : end] += reached
        if end < len(best):
            best[end:] += quick_product(plan.passed[first:end, end:].T, missed)
