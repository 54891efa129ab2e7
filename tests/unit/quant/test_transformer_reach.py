"""What channels may reach beyond the few rows of a small calibration."""

from __future__ import annotations

import numpy as np

from edgec.quant.transformer.samples import MOST_ROWS, Seen


def seen(rows: np.ndarray, count: int | None = None) -> Seen:
    low, high = (extreme.astype(np.float64) for extreme in (rows.min(axis=0), rows.max(axis=0)))
    return Seen(low, high, rows, len(rows) if count is None else count)


def normal(count: int) -> np.ndarray:
    return np.random.default_rng(3).normal(size=(count, 32)).astype(np.float32)


def test_few_rows_reach_further_than_they_show():
    rows, others = normal(256)[:128], normal(256)[128:]
    found = seen(rows)
    low, high = found.reach
    assert (low < found.low).all() and (high > found.high).all()
    cut = ((others < low) | (others > high)).mean()
    assert cut < 0.1 * ((others < found.low) | (others > found.high)).mean()


def test_many_rows_reach_what_they_show():
    found = seen(normal(64), MOST_ROWS + 1)
    np.testing.assert_array_equal(found.reach, (found.low, found.high))


def test_rows_that_repeat_themselves_reach_no_further():
    found = seen(np.concatenate([normal(64)] * 2))
    np.testing.assert_array_equal(found.reach, (found.low, found.high))


def test_reach_is_bounded_and_defined():
    outlier = normal(64)
    outlier[0, 0] = 1e6
    outlier[:, 1] = 3.0
    found = seen(outlier)
    low, high = found.reach
    np.testing.assert_allclose(high - low, 2.0 * (found.high - found.low))
    one = seen(outlier[:1])
    np.testing.assert_array_equal(one.reach, (one.low, one.high))
