"""Range estimators against direct computation on the values."""

from __future__ import annotations

import numpy as np
import pytest

from edgec.base.options import Observer, QuantSettings
from edgec.floatrun.ops_elementwise import element_function
from edgec.ir import ops
from edgec.quant.cnn.observers import (
    BINS,
    Aim,
    Histogram,
    MinMax,
    Part,
    Tails,
    choose_range,
    entropy_range,
    mse_range,
    percentile_range,
    squared_error,
)
from edgec.quant.common.params import Range, activation_params


def histogram(values: np.ndarray, parts: int = 1) -> Histogram:
    extremes = MinMax()
    for part in np.array_split(values, parts):
        extremes.update(part)
    found = Histogram(extremes.range)
    for part in np.array_split(values, parts):
        found.update(part)
    return found


@pytest.fixture(scope="module")
def long_tail():
    """Normal values with a few far outliers."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=200_000).astype(np.float32)
    values[:20] *= 30
    return values


def test_histograms_count_every_nonzero_value_whatever_the_batches(long_tail):
    values = np.concatenate([long_tail, np.zeros(1000, np.float32)])
    whole, parts = histogram(values), histogram(values, 7)
    np.testing.assert_array_equal(whole.counts, parts.counts)
    assert whole.counts.sum() == np.count_nonzero(values)
    assert whole.counts.shape == (BINS,)
    direct, _ = np.histogram(values[values != 0].astype(np.float64), whole.edges)
    # The two round differently at the edges of bins.
    assert np.abs(np.cumsum(direct) - np.cumsum(whole.counts)).max() <= 2


def test_minmax_takes_the_extremes_and_zero(long_tail):
    options = QuantSettings(observer=Observer.MINMAX)
    found = choose_range(histogram(long_tail), options)
    assert found == Range(float(long_tail.min()), float(long_tail.max()))
    assert histogram(np.array([2.0, 3.0], np.float32)).range == Range(0.0, 3.0)


def test_percentile_leaves_out_the_share_asked_for(long_tail):
    found = percentile_range(histogram(long_tail), 99.9)
    above, below = np.mean(long_tail > found.high), np.mean(long_tail < found.low)
    assert 0.0005 < above <= 0.001
    assert 0.0005 < below <= 0.001
    everything = percentile_range(histogram(long_tail), 100.0)
    assert everything.low == pytest.approx(float(long_tail.min()))
    assert everything.high == pytest.approx(float(long_tail.max()))


def rounding_error(values: np.ndarray, chosen: Range) -> float:
    params = activation_params(chosen)
    return float(np.mean((params.dequantize(params.quantize(values)) - values) ** 2))


def test_mse_beats_minmax_and_is_near_the_best_of_a_grid(long_tail):
    counts = histogram(long_tail)
    chosen = mse_range(counts)
    error = rounding_error(long_tail, chosen)
    assert error < 0.8 * rounding_error(long_tail, counts.range)
    full = counts.range
    grid = [
        rounding_error(long_tail, Range(full.low * a, full.high * b))
        for a in np.linspace(0.3, 1, 8)
        for b in np.linspace(0.3, 1, 8)
    ]
    assert error <= 1.1 * min(grid)


def test_squared_error_of_a_histogram_is_that_of_its_values(long_tail):
    counts = histogram(long_tail)
    chosen = Range(-4.0, 4.0)
    estimate = squared_error(counts, chosen) / len(long_tail)
    assert estimate == pytest.approx(rounding_error(long_tail, chosen), rel=0.05)


def test_a_function_is_computed_for_codes_and_not_for_bins(long_tail):
    """The error of a function is that of its values at the codes of all bins; to the last bit."""
    asked = []

    def tanh(values: np.ndarray) -> np.ndarray:
        asked.append(values.size)
        return element_function(ops.Unary(ops.UnaryKind.TANH))(values)

    counts = Histogram(Range(-8.0, 30.0), Aim((Part(tanh),)))
    counts.update(np.clip(long_tail, -8.0, 30.0))
    values = Range(-3.0, 4.0)
    asked.clear()
    found = squared_error(counts, values)
    assert asked[-1] == 256 and len(asked) == 3  # ends and middles of bins once, then codes
    codes = activation_params(values)
    gaps = tanh(codes.dequantize64(codes.quantize(counts.centers))) - tanh(counts.centers)
    assert found == np.sum(counts.by_part[0] * gaps**2)


def test_zeros_are_no_bin_of_their_own():
    """Where zero lies at an end, inside, or beyond the values, and with weights by channel."""
    rng = np.random.default_rng(0)
    for low, high in ((0.0, 6.0), (-6.0, 0.0), (-2.0, 5.0)):
        values = rng.uniform(low, high, (500, 4)).astype(np.float32)
        values[rng.random(values.shape) < 0.3] = 0.0
        weights = rng.random(4)
        found = Histogram(Range(low, high), Aim((Part(weight=weights),)))
        found.update(values)
        kept = values != 0
        places = ((values[kept] - low) * (BINS / (high - low))).astype(int)
        own = np.broadcast_to(weights, values.shape)[kept]
        np.testing.assert_array_equal(found.elements, np.bincount(places, minlength=BINS))
        np.testing.assert_allclose(found.by_part[0], np.bincount(places, own, BINS))


def test_entropy_cuts_far_outliers_only(long_tail):
    chosen = entropy_range(histogram(long_tail))
    assert 3.0 < chosen.high < long_tail.max()
    uniform = np.random.default_rng(1).uniform(-1, 1, 100_000).astype(np.float32)
    chosen = entropy_range(histogram(uniform))
    assert chosen.high > 0.95
    assert chosen.low < -0.95


@pytest.mark.parametrize("observer", Observer)
@pytest.mark.parametrize(
    "values", [[0.0, 0.0], [3.0], [-3.0], [1e-30, 2e-30], [0.0, 5.0], [-1e30, 1e30], [1e-38, 0.0]]
)
def test_degenerate_tensors_get_a_usable_range(observer, values):
    counts = histogram(np.asarray(values, np.float32))
    found = choose_range(counts, QuantSettings(observer=observer))
    assert counts.range.low <= found.low <= 0.0 <= found.high <= counts.range.high
    activation_params(found)


@pytest.mark.parametrize("observer", Observer)
def test_a_constant_keeps_its_value(observer):
    """One value far from zero must not be cut off."""
    counts = histogram(np.full(1000, 3.0, np.float32))
    found = choose_range(counts, QuantSettings(observer=observer))
    assert found.high == pytest.approx(3.0, rel=0.01)


def with_room(values: np.ndarray) -> Range:
    """The range by samples [n, ...] and what as many fresh ones add."""
    extremes = MinMax()
    extremes.update(values, len(values))
    tails = extremes.tails()
    found = Histogram(tails.widened(extremes.range))
    found.update(values)
    found.add_tails(tails)
    return mse_range(found)


def decibels(values: np.ndarray, chosen: Range) -> float:
    return float(10 * np.log10(np.mean(values**2) / rounding_error(values, chosen)))


@pytest.mark.parametrize(("count", "elements", "gain"), [(8, 4, 8), (16, 4, 6), (64, 4, 2)])
def test_ranges_of_few_values_have_room_for_fresh_ones(
    count: int, elements: int, gain: float
) -> None:
    rng, found = np.random.default_rng(0), []
    for _ in range(40):
        seen, fresh = (rng.normal(size=(n, elements)).astype("f") for n in (count, 500))
        found.append([decibels(fresh, c) for c in (mse_range(histogram(seen)), with_room(seen))])
    before, after = np.median(found, axis=0)
    assert after > before + gain


def test_the_range_of_many_values_stays() -> None:
    seen = np.random.default_rng(0).normal(size=(64, 4096)).astype("f")
    plain, wider = mse_range(histogram(seen)), with_room(seen)
    assert wider.high - wider.low == pytest.approx(plain.high - plain.low, rel=0.06)


def test_a_tensor_that_is_nowhere_negative_stays_so() -> None:
    rng = np.random.default_rng(0)
    assert with_room(np.abs(rng.normal(size=(16, 4))).astype("f")).low == 0.0
    assert with_room(np.clip(rng.normal(size=(32, 4)), 0, 0.5).astype("f")).high <= 0.5
    assert Tails().widened(Range(-1.0, 2.0)) == Range(-1.0, 2.0)


def test_a_loop_has_several_rows_a_sample() -> None:
    rows = np.arange(24, dtype=np.float32).reshape(24, 1)
    found = MinMax()
    found.update(rows[:12], 4)
    found.update(rows[12:], 4)
    assert found.tails().above is not None
    assert found.tails().above.end[0] == 23.0
    assert found.tails().above.start[0] == 14.0  # the fourth largest of 2, 5, 8 ... 23
