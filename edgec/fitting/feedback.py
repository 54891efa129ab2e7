"""Weights one position after the other, each error made up for by the positions still open.

Source: Frantar et al., "GPTQ", ICLR 2023; a *position* is one weight of each filter, or a vector of
them as in van Baalen et al., "GPTVQ", 2024.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.portable_algebra import cholesky, inverse_of_lower, quick_product
from edgec.fitting.objective import Objective

Decide = Callable[[int, Array, Array], Array]
"""Choice of the weights of a position: takes its number, the weights [O, G] best there, and
whitening [G, G]; gives what is missed, the difference to its choice times the whitening."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Order and factors by which feedback goes through the positions of a layer.

    Attributes:
        order: int64 [P], positions, those first whose errors cost most.
        elements: int64 [K], of these positions.
        upper: float64 [K, K], upper triangular U with ``U.T @ U = inverse(H)`` in that order.
        whitening: float64 [P, G, G], inverses of the blocks on U's diagonal.
    """

    order: Array
    elements: Array
    upper: Array
    whitening: Array


def feedback_plan(objective: Objective, group: int) -> Plan:
    """The plan of a layer whose positions hold `group` weights."""
    cost = np.diag(objective.hessian).reshape(-1, group).sum(1)
    order = np.argsort(-cost, kind="stable")
    elements = (order[:, None] * group + np.arange(group)).reshape(-1)
    # From the last position to the first H has the factor inverse(U), turned around.
    turned = elements[::-1]
    lower = cholesky(objective.hessian[np.ix_(turned, turned)])
    upper = np.ascontiguousarray(inverse_of_lower(lower)[::-1, ::-1])
    inverse = lower[::-1, ::-1]
    starts = range(0, len(upper), group)
    whitening = np.stack([inverse[i : i + group, i : i + group] for i in starts])
    return Plan(order, elements, upper, whitening)


def with_feedback(objective: Objective, plan: Plan, decide: Decide, together: int = 1) -> None:
    """Have every position decided.

    Args:
        objective: the layer's error; its target is where to start from.
        plan: from `feedback_plan`.
        decide: called once for each position, in the plan's order; keeps its choices.
        together: positions whose errors reach the positions after them at once, which is quicker.
    """
    rows = objective.target[:, plan.elements]
    group = plan.whitening.shape[-1]
    for start in range(0, len(plan.order), together):
        steps = range(start, min(start + together, len(plan.order)))
        first, end = start * group, steps[-1] * group + group
        missed = np.empty((len(rows), end - first))
        for step in steps:
            here = slice(step * group, (step + 1) * group)
            wrong = decide(int(plan.order[step]), rows[:, here], plan.whitening[step])
            missed[:, here.start - first : here.stop - first] = wrong
            if here.stop == end:
                continue
            after = plan.upper[here, here.stop : end]
            # Products of single terms are exact enough, and alike everywhere, as they are.
            rows[:, here.stop : end] -= wrong * after if group == 1 else quick_product(wrong, after)
        rows[:, end:] -= quick_product(missed, plan.upper[first:end, end:])
