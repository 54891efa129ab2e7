"""Biases and multipliers of 16 bits: exact where they can be, near elsewhere."""

from fractions import Fraction

import numpy as np
import pytest

from edgec.base.fixedpoint import INT32_MAX
from edgec.ir import qops
from edgec.kernels.weightpool.short_numbers import ShortNumbers

RNG_SEEDS = range(40)


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Biases and multipliers of any size, some channels almost without weights."""
    rng = np.random.default_rng(seed)
    multiplier = (2.0 ** rng.uniform(0, rng.uniform(4, 31), 12)).astype(np.int64)
    multiplier[rng.random(12) < 0.1] = 0
    bias = rng.integers(-1, 2, 12) * (2.0 ** rng.uniform(0, 31, 12)).astype(np.int64)
    extremes = rng.integers(0, 12, 2)
    bias[extremes[0]], multiplier[extremes[1]] = -INT32_MAX, INT32_MAX
    return bias, multiplier


@pytest.mark.parametrize("seed", RNG_SEEDS)
def test_numbers_that_were_made_short_stay_as_they_are(seed: int):
    first = ShortNumbers.near(*drawn(seed))
    again = ShortNumbers.near(first.biases, first.multipliers)
    assert np.array_equal(again.biases, first.biases)
    assert np.array_equal(again.multipliers, first.multipliers)
    assert first.multipliers.max() <= INT32_MAX
    assert 0 <= first.multiplier_shift <= 4
    exponents = first.multiplier.astype(np.int64) >> 12
    assert exponents.max() <= first.bias_shift <= 31


@pytest.mark.parametrize("seed", RNG_SEEDS)
def test_the_bound_holds_for_every_sum(seed: int):
    """Against exact fractions, on sums at the bounds of the codes, of the layer and between."""
    rng = np.random.default_rng(seed)
    form = qops.Requant31(32, int(rng.integers(-128, 128)))
    multiplier = rng.integers(1, 1 << int(rng.integers(12, 31)), 6)
    bias = rng.integers(-(2**22), 2**22, 6)
    reach = np.abs(bias) + rng.integers(1 << 10, 1 << 24, 6)
    short = ShortNumbers.near(bias, multiplier)
    most = Fraction(short.error(bias, multiplier, reach, form)) + Fraction(1, 10**9)
    worst = Fraction(0)
    for channel in range(6):
        limit, own = int(reach[channel]), int(multiplier[channel])
        bounds = [(form.low - form.zero_point - 0.5), (form.high - form.zero_point + 0.5)]
        edges = [int(np.clip(bound * 2**32 / own, -limit, limit)) for bound in bounds]
        for sum_ in (*edges, -limit, limit, *rng.integers(-limit, limit + 1, 20).tolist()):
            moved = int(short.biases[channel] - bias[channel])
            exact = Fraction(sum_ * own, 2**32)
            near = Fraction((sum_ + moved) * int(short.multipliers[channel]), 2**32)
            low, high = map(Fraction, bounds)
            clamped = (min(max(value, low), high) for value in (exact, near))
            worst = max(worst, abs(next(clamped) - next(clamped)))
    assert worst <= most


def test_a_bias_beyond_32_bits_does_not_fit():
    """Though it is exact: the bias beside it would move by 32 bits, which C does not define."""
    bias = np.array([INT32_MAX + 1, 0])
    short = ShortNumbers.near(bias, np.array([1 << 26, 1]))
    assert np.array_equal(short.biases, bias)
    assert short.bias_shift == 32
    assert not short.fits(np.zeros(2), bias)


def test_a_channel_almost_without_weights_costs_the_others_nothing():
    multiplier = np.array([1 << 26, 1 << 16])
    bias = np.array([40_001, 40_000 << 10])
    short = ShortNumbers.near(bias, multiplier)
    assert np.array_equal(short.multipliers, multiplier)
    steps = np.abs(short.biases - bias) * multiplier / 2.0**32
    assert steps.max() <= 1 / 32
