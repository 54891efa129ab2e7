"""Ranges that fresh values keep."""

import numpy as np
import pytest

from edgec.quant.common.few_samples import PLENTY, fresh_range, upper_tail

DRAWN = {
    "normal": lambda rng, size: rng.normal(size=size),
    "uniform": lambda rng, size: rng.random(size),
    "exponential": lambda rng, size: rng.exponential(size=size),
}


@pytest.mark.parametrize("count", [16, 32, 128, 512])
@pytest.mark.parametrize("name", DRAWN)
def test_few_fresh_values_lie_beyond(name: str, count: int) -> None:
    """Against 2 / (n + 1) by the extremes: 11.8, 6.1, 1.6 and 0.4 percent."""
    rng = np.random.default_rng(0)
    seen, fresh = (DRAWN[name](rng, (size, 64)) for size in (count, 4000))
    low, high = fresh_range(seen)
    assert np.mean((fresh < low) | (fresh > high)) < 0.012
    # As many steps as the noise of what is cut off is worth.
    assert np.median((high - low) / np.ptp(seen, axis=0)) < (3.0 if count == 16 else 2.2)


def decibels(low: np.ndarray, high: np.ndarray, fresh: np.ndarray) -> float:
    """Signal to noise of fresh values [n, F] in 256 codes of these ranges."""
    step = (high - low) / 255
    noise = np.clip(np.floor((fresh - low) / step + 0.5), 0, 255) * step + low - fresh
    return float(10 * np.log10(((fresh - fresh.mean(axis=0)) ** 2).sum() / (noise**2).sum()))


@pytest.mark.parametrize(
    ("name", "count", "before", "after"),
    [
        ("normal", 32, 17, 32), ("uniform", 32, 30, 44), ("exponential", 32, 12, 22),
        ("normal", 512, 32, 35), ("uniform", 512, 48, 48), ("exponential", 512, 25, 28),
    ],
)  # fmt: skip
def test_figures_of_the_docstring(name: str, count: int, before: int, after: int) -> None:
    rng, found = np.random.default_rng(0), []
    for _ in range(200):
        seen, fresh = (DRAWN[name](rng, (size, 8)) for size in (count, 2000))
        extremes = seen.min(axis=0), seen.max(axis=0)
        found.append([decibels(*each, fresh) for each in (extremes, fresh_range(seen))])
    np.testing.assert_allclose(np.median(found, axis=0), (before, after), atol=1.0)


def test_ends_at_which_values_meet_stay() -> None:
    switches = (np.arange(40)[:, None] % 5 == 0).astype(float)
    assert [end.item() for end in fresh_range(switches)] == [0.0, 1.0]


@pytest.mark.parametrize("count", [1, 3, PLENTY])
def test_one_sample_and_plenty_of_them_have_their_extremes(count: int) -> None:
    values = np.random.default_rng(1).normal(size=(count, 3))
    low, high = fresh_range(values)
    assert np.array_equal(low, values.min(axis=0)) and np.array_equal(high, values.max(axis=0))


@pytest.mark.parametrize("count", [8, 64])
def test_a_tail_divides_one_value_among_intervals(count: int) -> None:
    tail = upper_tail(np.random.default_rng(2).exponential(size=(count, 1)))
    assert tail.start[0] < tail.end[0] < tail.reach[0] < tail.far[0]
    edges = np.linspace(0.0, float(tail.far[0]), 50)
    shares = tail.shares(edges)
    assert shares.sum() == pytest.approx(1.0)
    assert np.all(shares[edges[1:] <= tail.end[0]] == 0.0)
    inner = shares[edges[:-1] > tail.end[0]][:-1]
    assert np.all(np.diff(inner) < 0.0)
