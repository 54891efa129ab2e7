"""The order of channels in which a pool fits a network best.

Vectors of a pool stand for the weights of neighbouring channels.  Which channels are neighbours,
and in which order, is free (`channels`).  The search swaps two of them at a time (`swaps`), judged
by the error of the weights under a small pool that is clustered anew as the order changes.  Swaps
that make it worse by less than a threshold are taken as well, and the threshold sinks to zero:
threshold accepting, Dueck and Scheuer, Journal of Computational Physics 90, 1990.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.options import Progress, WeightPoolOptions, no_progress
from edgec.ir.graph import Graph
from edgec.weightpool.channels import FreeChannels, free_channels, with_orders
from edgec.weightpool.cluster import Cloud, cluster, improved, joined
from edgec.weightpool.layers import choose_layers
from edgec.weightpool.swaps import Swaps
from edgec.weightpool.vectors import PoolLayer

_POOL_SIZE = 16
"""Vectors of the pool that orders are judged by."""
_SWEEPS = 60
"""Passes over all channels, each with a smaller threshold."""
_SWAPS = 16_000
"""Swaps that a pass tries at most."""
_ROWS = 512
"""Rows of a layer's weights that orders are judged by."""
_ROWS_A_PASS = 2048
"""Rows that the swaps of a pass are judged by at most; the next pass takes others."""
_THRESHOLD = 0.01
"""The largest threshold, as a share of the squared weights of a group of channels."""


def with_best_order(
    graph: Graph, options: WeightPoolOptions, progress: Progress = no_progress
) -> Graph:
    """Give the channels of a network the order in which pools fit its weights well.

    The network computes what it did, up to the rounding of float sums.  No data are needed: the
    error is that of the weights, relative to the weights of the same layer.

    Args:
        graph: REAL stage, after `passes.pipeline.REAL_PASSES`.
        options: which layers are pooled, the weights of a vector, and the seed.
        progress: told how far the search is.

    Raises:
        WeightPoolError: nothing can be pooled, or weights are pooled already or not finite.
    """
    rng = np.random.default_rng(options.seed)
    weights = {
        layer.node.name: _Weights(layer, rng) for layer in choose_layers(graph, options).pooled
    }
    places = []
    for channels in free_channels(graph):
        readers = [weights[name] for name in channels.readers if name in weights]
        if readers and channels.size > options.group and channels.size % options.group == 0:
            places.append(_Places(channels, readers))
    if not places:
        return graph
    cloud = joined([each.cloud for each in weights.values()])
    pool = cluster(cloud, _POOL_SIZE, signed=False, rng=rng)
    for sweep in range(_SWEEPS):
        progress("ordering channels", sweep, _SWEEPS)
        threshold = _THRESHOLD * (1 - sweep / (_SWEEPS - 1))
        for each in places:
            each.swap(pool, threshold, _SWAPS // len(places), rng)
        pool = improved(joined([each.cloud for each in weights.values()]), pool)
    return with_orders(graph, [(each.channels, each.order) for each in places])


class _Weights:
    """Rows of a layer's weights: the weights of one filter at one tap, for all channels.

    Attributes:
        rows: float64 [R, C], relative to the root mean square of the filter.
        worth: float64 [R], what the squared error of a row counts.
    """

    def __init__(self, layer: PoolLayer, rng: np.random.Generator) -> None:
        self._group = layer.weight.shape[2]
        rows = layer.weight.reshape(-1, layer.taps[-1] * self._group)
        power = np.repeat(np.mean(layer.rows**2, axis=1), len(rows) // layer.outputs)
        picked = np.arange(len(rows))
        if len(rows) > _ROWS:
            picked = np.sort(rng.choice(len(rows), _ROWS, replace=False))
        power = power[picked]
        self.rows = rows[picked] / np.sqrt(np.where(power > 0, power, 1.0))[:, None]
        self.worth = power / (power.sum() or 1.0)

    @property
    def cloud(self) -> Cloud:
        """The vectors of the rows."""
        groups = self.rows.shape[1] // self._group
        return Cloud(self.rows.reshape(-1, self._group), np.repeat(self.worth, groups) / groups)


class _Places:
    """Channels that change places.

    Attributes:
        channels: which ones.
        order: int [C], the channel at each place.
    """

    def __init__(self, channels: FreeChannels, readers: Sequence[_Weights]) -> None:
        """The order that the network has.

        Args:
            channels: which ones.
            readers: weights of the pooled layers that sum over them.
        """
        self.channels = channels
        self.order = np.arange(channels.size)
        self._readers = readers

    def swap(self, pool: Array, threshold: float, most: int, rng: np.random.Generator) -> None:
        """Try swaps of random channels.

        Args:
            pool: float64 [S, G].
            threshold: by how much the error may rise, as a share of the squared weights of a group.
            most: swaps that are tried at most.
            rng: chooses the channels.
        """
        size, groups = self.channels.size, self.channels.size // pool.shape[1]
        rows = np.concatenate([each.rows for each in self._readers])
        worth = np.concatenate([each.worth for each in self._readers])
        if len(rows) > _ROWS_A_PASS:
            picked = rng.choice(len(rows), _ROWS_A_PASS, replace=False)
            rows, worth = rows[picked], worth[picked]
        swaps = Swaps(rows, worth, pool)
        least = -int(threshold * swaps.power / groups)
        count = min(size * (size - 1) // 2, most)
        first, second = rng.integers(0, size, count), rng.integers(0, size - 1, count)
        second += second >= first
        order = np.arange(size)
        for one, other in zip(first.tolist(), second.tolist(), strict=True):
            if swaps.swap(one, other, least):
                order[[one, other]] = order[[other, one]]
        for each in self._readers:
            each.rows = each.rows[:, order]
        self.order = self.order[order]
