"""Measures of distance: cases that can be computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from edgec.workflow.output_metrics import Distance, distance


def test_equal_numbers() -> None:
    x = np.array([[1.0, 2.0], [3.0, -4.0]])
    assert distance(x, x) == Distance(0.0, 0.0, 0.0, 1.0, pytest.approx(1.0))


def test_by_hand() -> None:
    found = distance(np.array([2, 2, 2], np.int8), np.array([1.0, 2.0, 3.0], np.float32))
    assert found.rmse == pytest.approx(math.sqrt(2 / 3))
    assert found.mae == pytest.approx(2 / 3)
    assert found.l2 == pytest.approx(math.sqrt(2 / 14))
    assert found.nse == pytest.approx(0.0)  # as good as the mean
    assert found.cosine == pytest.approx(12 / (math.sqrt(12) * math.sqrt(14)))


def test_what_is_not_defined() -> None:
    zero, one = np.zeros(3), np.ones(3)
    assert distance(one, zero) == Distance(1.0, 1.0, None, None, None)
    assert distance(zero, one) == Distance(1.0, 1.0, 1.0, None, None)
