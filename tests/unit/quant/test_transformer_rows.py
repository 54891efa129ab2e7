"""Rows of the calibration data on which the scales of a transformer are chosen."""

from __future__ import annotations

import numpy as np
import pytest

from edgec.quant.transformer.samples import MOST_ROWS, _spread


def chosen(total: int, batch: int) -> np.ndarray:
    parts = [_spread(i, min(batch, total - i), total) for i in range(0, total, batch)]
    return np.flatnonzero(np.concatenate(parts))


@pytest.mark.parametrize("batch", [64, 1000, 4096])
@pytest.mark.parametrize("total", [2049, 3072, 65_536, 1_000_003])
def test_every_position_is_seen_however_often_it_recurs(total: int, batch: int):
    """Rows of a power of two of positions, as channels that are not the last axis make them."""
    rows = chosen(total, batch)
    assert MOST_ROWS - 32 <= len(rows) <= MOST_ROWS
    for period in (2, 3, 16, 64):
        counts = np.bincount(rows % period, minlength=period)
        assert counts.min() >= 0.75 * len(rows) / period


def test_few_rows_are_all_taken():
    assert len(chosen(MOST_ROWS, 100)) == MOST_ROWS
