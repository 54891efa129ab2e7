"""The first pool: weighted k-means over all vectors of the network.

Each filter's vectors are divided by the filter's own root mean square, because the pooled weights
have a scale per output channel.  Source of the seeding: Arthur and Vassilvitskii, "k-means++",
SODA 2007.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.portable_algebra import quick_product
from edgec.layererror.objective import Objective
from edgec.weightpool.codebook import mirrored
from edgec.weightpool.vectors import PoolLayer

MOST_VECTORS = 40_000
"""No more vectors than this are clustered; a larger network is sampled."""
_ITERATIONS = 25


@dataclass(frozen=True, slots=True, eq=False)
class Cloud:
    """Points to cluster.

    Attributes:
        points: float64 [N, G].
        weights: float64 [N], not negative: what an error of this vector costs.
    """

    points: Array
    weights: Array


def normalised(layer: PoolLayer, objective: Objective) -> Cloud:
    """A layer's vectors, each filter divided by its root mean square, weighted by their cost."""
    size = np.sqrt(np.mean(layer.rows**2, axis=1))
    size = np.where(size > 0, size, 1.0)
    group = layer.weight.shape[2]
    importance = np.diag(objective.hessian).reshape(-1, group).mean(1)
    power = objective.power if objective.power > 0 else 1.0
    weights = size[:, None] ** 2 * importance / power
    points = layer.weight / size[:, None, None]
    return Cloud(points.reshape(-1, group), weights.reshape(-1))


def joined(clouds: Sequence[Cloud]) -> Cloud:
    """The points of several layers."""
    return Cloud(
        np.concatenate([cloud.points for cloud in clouds]),
        np.concatenate([cloud.weights for cloud in clouds]),
    )


def cluster(cloud: Cloud, size: int, signed: bool, rng: np.random.Generator) -> Array:
    """A pool of `size` vectors for the points, float64 [size, G].

    Args:
        cloud: the vectors.
        size: number of vectors in the pool.
        signed: make the second half the negative of the first.
        rng: chooses samples and seeds.
    """
    points, weights = _sample(cloud, rng)
    if signed:
        # A vector and its negative are the same point: fold them onto one side.
        points = np.concatenate([points, -points])
        weights = np.concatenate([weights, weights])
    pool = _seeds(points, weights, size, signed, rng)
    for _ in range(_ITERATIONS):
        pool = improved(Cloud(points, weights), pool)
        if signed:
            pool = _folded(pool)
    return pool


def improved(cloud: Cloud, pool: Array) -> Array:
    """A pool, float64 [S, G], after one more iteration of k-means over all of the points."""
    nearest, distance = _nearest(cloud.points, pool)
    return _centres(cloud.points, cloud.weights, nearest, distance, pool)


def _sample(cloud: Cloud, rng: np.random.Generator) -> tuple[Array, Array]:
    if len(cloud.points) <= MOST_VECTORS:
        return cloud.points, cloud.weights
    picked = rng.choice(len(cloud.points), MOST_VECTORS, replace=False)
    return cloud.points[picked], cloud.weights[picked]


def _seeds(
    points: Array, weights: Array, size: int, signed: bool, rng: np.random.Generator
) -> Array:
    """k-means++: each seed is drawn in proportion to what the seeds so far leave."""
    chosen: list[Array] = []
    gap = np.sum(points**2, axis=1)
    while len(chosen) < size:
        mass = gap * weights
        total = mass.sum()
        share = mass / total if total > 0 else np.full(len(points), 1 / len(points))
        point = points[rng.choice(len(points), p=share)]
        found = [point, -point] if signed else [point]
        chosen += found
        for each in found:
            gap = np.minimum(gap, np.sum((points - each) ** 2, axis=1))
    pool = np.array(chosen)
    return mirrored(pool[::2]) if signed else pool


def _nearest(points: Array, pool: Array) -> tuple[Array, Array]:
    distance = np.sum(pool**2, axis=1) - 2 * quick_product(points, pool.T)
    nearest = np.argmin(distance, axis=1)
    least = np.take_along_axis(distance, nearest[:, None], axis=1)[:, 0]
    return nearest, np.maximum(least + np.sum(points**2, axis=1), 0.0)


def _centres(points: Array, weights: Array, nearest: Array, distance: Array, pool: Array) -> Array:
    """Weighted means; a vector that nothing uses moves to the point that is served worst."""
    size, group = pool.shape
    mass = np.bincount(nearest, weights, size)
    sums = np.stack(
        [np.bincount(nearest, weights * points[:, g], size) for g in range(group)], axis=1
    )
    empty = np.flatnonzero(mass <= 0)
    centres = np.where(mass[:, None] > 0, sums / np.where(mass > 0, mass, 1)[:, None], pool)
    worst = np.argsort(-(distance * weights), kind="stable")
    for place, point in zip(empty, worst, strict=False):
        centres[place] = points[point]
    return np.asarray(centres)


def _folded(pool: Array) -> Array:
    """The nearest pool whose second half is the negative of its first."""
    half = len(pool) // 2
    return mirrored((pool[:half] - pool[half:]) / 2)
