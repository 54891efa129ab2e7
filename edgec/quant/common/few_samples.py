"""Ranges that fresh values keep, from few that were seen.

Of n values that were seen, a fresh one lies beyond the extremes with probability 2 / (n + 1),
whatever the distribution.  How far it lies is estimated from the largest values, as if the tail
were exponential from there on: its mean excess is constant, so that of N values the largest lies
``excess * log(N / n)`` beyond that of n (peaks over threshold: Balkema and de Haan, Annals of
Probability 2 (1974); mean excess: Davison and Smith, Journal of the Royal Statistical Society B 52
(1990)).

Signal to noise of 2,000 fresh values in int8, median of 200 trials, in dB, by the range of n = 32
values and by this one: normal 17 and 32, uniform 30 and 44, exponential 12 and 22; of n = 512:
normal 32 and 35, uniform 48 and 48, exponential 25 and 28 (`tests/unit/quant/test_few_samples.py`).
"""

from __future__ import annotations

import math

import numpy as np

from edgec.base.dtypes import Array

PLENTY = 1000
"""Values that show their range: a fresh one lies beyond it in one of 500 cases."""
_FEWEST = 4
"""Values below which nothing is known of a tail."""


def fresh_range(values: Array) -> tuple[Array, Array]:
    """The range of each feature that about one of a thousand fresh values leaves.

    Args:
        values: float64 [n, F], finite.

    Returns:
        Least and greatest value, float64 [F] each; the extremes themselves of a feature that has
        several of its largest, or least, values alike, and of `PLENTY` values.
    """
    count = len(values)
    if not _FEWEST <= count < PLENTY:
        return values.min(axis=0), values.max(axis=0)
    ordered = np.sort(values, axis=0)
    tail = min(max(round(math.sqrt(count)), 1), count // 2)
    turns = math.log(PLENTY / count)
    above = ordered[-tail:].mean(axis=0) - ordered[-tail - 1]
    below = ordered[tail] - ordered[:tail].mean(axis=0)
    # Values that meet at an end, of a switch or a count, have no tail there.
    above = np.where(ordered[-1] == ordered[-2], 0.0, above)
    below = np.where(ordered[0] == ordered[1], 0.0, below)
    return ordered[0] - below * turns, ordered[-1] + above * turns
