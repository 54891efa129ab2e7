"""A layer on what the network computes as far as it is compressed.

The weights that are wanted are those of the regression of the float network's outputs on these
inputs: they also make up for errors made before.  Where a sum follows the layer it is the sum that
must be right, and where a rectifier follows, only its output counts.  For the latter the goal moves
with the prediction: where both are below zero there is no error, so the goal is the prediction.
Each step lowers the rectified error (the squared distance to such a goal bounds it from above and
touches it at the current prediction: a majorisation, as in Hunter and Lange, "A Tutorial on MM
Algorithms", 2004).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from edgec.dtypes import Array
from edgec.weightpool.moments import Objective, damped
from edgec.weightpool.vectors import PoolLayer


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """Output elements of a layer.

    Attributes:
        layer: the layer.
        rows: float32 [R, K], what they read.
        wanted: float32 [R, O], what the float network has there, after a sum if one follows.
        other: float32 [R, O], the sum's other term in the compressed network, or None.
        rectified: whether a rectifier follows.
    """

    layer: PoolLayer
    rows: Array
    wanted: Array
    other: Array | None
    rectified: bool

    def objective(self) -> Objective:
        """The layer's error, every value of the output counting."""
        mean = self.rows.mean(0, dtype=np.float64)
        covariance = (self.rows.T @ self.rows) / np.float64(len(self.rows)) - np.outer(mean, mean)
        start = Objective(
            self.layer.rows, damped(covariance, self.layer), mean, np.zeros(self.layer.outputs), 0.0
        )
        return self._towards(start, self._own(self.wanted))

    def rectified_objective(self, current: Objective, rows: Array) -> Objective:
        """The error near weights [O, K], for a layer that a rectifier follows."""
        predicted = self.rows @ rows.T.astype(np.float32) + current.bias(rows).astype(np.float32)
        total = predicted if self.other is None else predicted + self.other
        goal = np.where(self.wanted > 0, self.wanted, np.minimum(total, 0))
        return self._towards(current, self._own(goal))

    def _own(self, total: Array) -> Array:
        """The layer's share of a sum."""
        return total if self.other is None else total - self.other

    def _towards(self, current: Objective, goal: Array) -> Objective:
        """The error for goals [R, O]; H stays, the target moves from the layer's own weights."""
        count = np.float64(len(goal))
        mean = goal.mean(0, dtype=np.float64)
        cross = (goal.T @ self.rows) / count - np.outer(mean, current.inputs)
        own = self.layer.rows
        size = np.arange(own.shape[1])
        hessian = current.hessian
        damping = hessian[size, size].copy()
        del damping
        moved = np.linalg.solve(hessian, (cross - own @ self._covariance(current)).T).T
        target = own + np.where(self.layer.present, moved, 0.0)
        power = float(np.sum(goal.var(0, dtype=np.float64)))
        return replace(current, target=target, outputs=mean, power=power)
