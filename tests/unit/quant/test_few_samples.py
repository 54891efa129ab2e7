"""Ranges that fresh values keep."""

import numpy as np
import pytest

from edgec.quant.common.few_samples import PLENTY, fresh_range

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


def test_ends_at_which_values_meet_stay() -> None:
    switches = (np.arange(40)[:, None] % 5 == 0).astype(float)
    assert [end.item() for end in fresh_range(switches)] == [0.0, 1.0]


@pytest.mark.parametrize("count", [1, 3, PLENTY])
def test_one_sample_and_plenty_of_them_have_their_extremes(count: int) -> None:
    values = np.random.default_rng(1).normal(size=(count, 3))
    low, high = fresh_range(values)
    assert np.array_equal(low, values.min(axis=0)) and np.array_equal(high, values.max(axis=0))
