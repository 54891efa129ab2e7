"""What an error of a layer's weights costs: second moments of what the layer reads.

With inputs x, wanted outputs t, weights w and a free bias, the mean squared error of an output
channel is, up to a constant, ``(w - w*) H (w - w*)``: H is the covariance of x and w* the linear
regression of t on x.  While x and t come from the float network, w* is the layer's own weight; when
x comes from the network as far as it is compressed, w* also makes up for errors made before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.dtypes import Array
from edgec.weightpool.vectors import PoolLayer, input_rows

DAMPING = 0.01
"""Added to the diagonal of H, as a share of its mean: what calibration data did not show."""
MOST_ROWS = 65_536
"""Output elements of a layer that moments are taken over; more are sampled."""


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """A layer's error as a function of its weights; see the module's text.

    Attributes:
        target: float64 [O, K], w*.
        hessian: float64 [K, K], H with damping; positive definite.
        inputs: float64 [K], mean of x.
        outputs: float64 [O], mean of t.
        power: sum over output channels of the variance of t; 0 without data.
        floor: sum over output channels of the error that w* itself leaves.
    """

    target: Array
    hessian: Array
    inputs: Array
    outputs: Array
    power: float
    floor: float

    def error(self, rows: Array) -> Array:
        """Error [O] of weights [O, K], without `floor`."""
        gap = rows - self.target
        return np.asarray(np.sum((gap @ self.hessian) * gap, axis=1))

    def bias(self, rows: Array) -> Array:
        """The bias [O] that makes the mean output right."""
        return np.asarray(self.outputs - rows @ self.inputs)


def plain_objective(layer: PoolLayer) -> Objective:
    """The error of the weights themselves, for want of data."""
    rows = layer.rows
    count = rows.shape[1]
    power = float(np.sum(rows**2))
    return Objective(rows, np.eye(count), np.zeros(count), layer.bias, power, 0.0)


class Moments:
    """Running sums over calibration data."""

    def __init__(self, layer: PoolLayer, samples: int, rng: np.random.Generator) -> None:
        """For a layer.

        Args:
            layer: the layer.
            samples: calibration samples that will come.
            rng: picks output elements where there are too many.
        """
        self._layer = layer
        self._rng = rng
        self._most = max(MOST_ROWS // samples, 1)
        size = layer.rows.shape[1]
        self._count = 0
        self._x = np.zeros(size)
        self._t = np.zeros(layer.outputs)
        self._tt = 0.0
        self._xx = np.zeros((size, size))
        self._tx = np.zeros((layer.outputs, size))

    def update(self, x: Array, wanted: Array) -> None:
        """Take in some samples.

        Args:
            x: float32 [N, ...], the layer's input.
            wanted: float32 [N, ..., O], what it should compute.
        """
        rows = input_rows(self._layer, x)
        wanted = wanted.reshape(len(rows), -1)
        most = self._most * len(x)
        if len(rows) > most:
            picked = self._rng.choice(len(rows), most, replace=False)
            rows, wanted = rows[picked], wanted[picked]
        self._count += len(rows)
        self._x += rows.sum(0, dtype=np.float64)
        self._t += wanted.sum(0, dtype=np.float64)
        self._tt += float(np.sum(wanted.astype(np.float64) ** 2))
        self._xx += rows.T @ rows
        self._tx += wanted.T @ rows

    def objective(self) -> Objective:
        """The error that the sums describe."""
        x, t = self._x / self._count, self._t / self._count
        covariance = self._xx / self._count - np.outer(x, x)
        cross = self._tx / self._count - np.outer(t, x)
        mean = float(np.trace(covariance)) / max(int(self._layer.present.sum()), 1)
        damping = DAMPING * mean if mean > 0 else 1.0
        hessian = covariance + damping * np.eye(len(x))
        rows = self._layer.rows
        moved = np.linalg.solve(hessian, (cross - rows @ covariance).T).T
        target = rows + np.where(self._layer.present, moved, 0.0)
        power = max(self._tt / self._count - float(t @ t), 0.0)
        explained = np.sum(cross * target) * 2 - np.sum((target @ covariance) * target)
        return Objective(target, hessian, x, t, power, max(power - float(explained), 0.0))
