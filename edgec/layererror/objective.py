"""Cost of an error in a layer's weights: second moments of the layer's inputs.

With inputs x, wanted outputs t, weights w and a free bias, the mean squared error of an output
channel is, up to a constant, ``(w - w*) H (w - w*)``: H is the covariance of x and w* the linear
regression of t on x.  Where x and t come from the float network, w* is the layer's own weight.
Where x comes from the network as far as it is compressed, w* also makes up for errors made before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.portable_algebra import inverse_of_positive, product, quick_product, second_moments

DAMPING = 0.05
"""Added to the diagonal of H, as a share of its mean: what calibration data did not show."""


class Filters(Protocol):
    """The real weights of a layer, a row for each filter."""

    @property
    def rows(self) -> Array:
        """Weights, float64 [O, K]."""

    @property
    def bias(self) -> Array:
        """Biases, float64 [O]."""

    @property
    def present(self) -> Array:
        """Bool [K]: False for elements that only fill a row up."""


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """A layer's error as a function of its weights; see the module's text.

    Attributes:
        target: float64 [O, K], w*.
        hessian: float64 [K, K], H with damping; positive definite.
        damping: what was added to the diagonal of H.
        inputs: float64 [K], mean of x.
        outputs: float64 [O], mean of t.
        power: sum over output channels of the variance of t; 0 for a constant layer.
    """

    target: Array
    hessian: Array
    damping: float
    inputs: Array
    outputs: Array
    power: float

    def error(self, rows: Array) -> Array:
        """Error [O] of weights [O, K], beyond the least."""
        gap = rows - self.target
        return np.asarray(np.sum(quick_product(gap, self.hessian) * gap, axis=1))

    def bias(self, rows: Array) -> Array:
        """The bias [O] that makes the mean output right."""
        return np.asarray(self.outputs - (rows * self.inputs).sum(axis=1))


def plain_objective(layer: Filters) -> Objective:
    """The error of the weights themselves, for want of data."""
    rows = layer.rows
    count = rows.shape[1]
    one, power = np.eye(count), float(np.sum(rows**2))
    return Objective(rows, one, 0.0, np.zeros(count), layer.bias, power)


def own_objective(layer: Filters, mean: Array, covariance: Array) -> Objective:
    """The error where the layer should compute what it does now.

    Args:
        layer: the layer; its own weights are the target.
        mean: float64 [K], of what it reads.
        covariance: float64 [K, K], of the same.
    """
    rows = layer.rows
    damping = damping_of(covariance, int(layer.present.sum()))
    hessian = covariance + damping * np.eye(len(mean))
    power = max(float(np.sum(quick_product(rows, covariance) * rows)), 0.0)
    outputs = (rows * mean).sum(axis=1) + layer.bias
    return Objective(rows, hessian, damping, mean, outputs, power)


def damping_of(covariance: Array, elements: int) -> float:
    """Number to add to the diagonal of a covariance of `elements` numbers."""
    spread = float(np.trace(covariance)) / max(elements, 1)
    return DAMPING * spread if spread > 0 else 1.0


class Moments:
    """Running sums over what a layer reads."""

    def __init__(self, layer: Filters) -> None:
        """No samples yet."""
        self._layer = layer
        outputs, size = layer.rows.shape
        self._count = 0
        self._x = np.zeros(size)
        self._t = np.zeros(outputs)
        self._tt = 0.0
        self._xx = np.zeros((size, size))
        self._tx = np.zeros((outputs, size))

    def update(self, rows: Array) -> None:
        """Take in what output elements read, float32 or float64 [R, K]."""
        self._count += len(rows)
        self._x += rows.sum(0, dtype=np.float64)
        self._xx += second_moments(rows.astype(np.float64))

    def update_goal(self, rows: Array, goal: Array) -> None:
        """Take in what output elements should be, float32 [R, O], and what they read."""
        self._t += goal.sum(0, dtype=np.float64)
        self._tt += float(np.sum(goal.astype(np.float64) ** 2))
        self._tx += quick_product(goal.T.astype(np.float64), rows.astype(np.float64))

    def own_objective(self) -> Objective:
        """The error where the layer should compute what it does now."""
        mean = self._x / self._count
        covariance = self._xx / self._count - np.outer(mean, mean)
        return own_objective(self._layer, mean, covariance)

    def objective(self) -> Objective:
        """The error against the goals; damping pulls to the layer's own weights."""
        own = self.own_objective()
        mean = self._t / self._count
        cross = self._tx / self._count - np.outer(mean, own.inputs)
        wanted = cross + own.damping * self._layer.rows
        target = product(wanted, inverse_of_positive(own.hessian))
        target = np.where(self._layer.present, target, 0.0)
        power = max(self._tt / self._count - float((mean * mean).sum()), 0.0)
        return replace(own, target=target, outputs=mean, power=power)
