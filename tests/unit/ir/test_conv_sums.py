"""Sums of convolutions: exact in whichever type of floating point they are taken."""

from __future__ import annotations

import numpy as np
import pytest

from edgec.ir import ops
from edgec.ir.qops.convolution import conv_sums

WINDOWS = [
    (ops.Conv(), 6),
    (ops.Conv((2, 1), (1, 0, 2, 3)), 6),
    (ops.Conv((1, 2), (4, 4, 4, 4), (2, 1)), 6),
    (ops.Conv((3, 3), (0, 1, 0, 1), (1, 2), 2), 4),
    (ops.Conv((1, 1), (1, 1, 1, 1), (1, 1), 6), 6),
    (ops.Conv((2, 2), (6, 0, 6, 0), (1, 1), 6), 12),
]


def by_definition(window, x, weight):
    top, left, bottom, right = window.pads
    full = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))
    outputs, high, wide, depth = weight.shape
    (down, across), (apart, beside) = window.strides, window.dilations
    rows = range(0, full.shape[1] - (high - 1) * apart, down)
    columns = range(0, full.shape[2] - (wide - 1) * beside, across)
    total = np.zeros((len(x), len(rows), len(columns), outputs), np.int64)
    for o in range(outputs):
        first = o // (outputs // window.group) * depth
        for i, r in enumerate(rows):
            for j, c in enumerate(columns):
                read = full[:, r : r + high * apart : apart, c : c + wide * beside : beside]
                own = read[..., first : first + depth]
                total[:, i, j, o] = (own * weight[o].astype(np.int64)).sum(axis=(1, 2, 3))
    return total


@pytest.mark.parametrize(("window", "outputs"), WINDOWS)
@pytest.mark.parametrize("reach", [127, 1 << 15, 1 << 30])
def test_sums_are_exact(window, outputs, reach):
    rng = np.random.default_rng(7)
    x = rng.integers(-reach, reach + 1, (2, 9, 7, 6))
    weight = rng.integers(-127, 128, (outputs, 3, 2, 6 // window.group)).astype(np.int8)
    found = conv_sums(window, x, weight)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, by_definition(window, x, weight))


@pytest.mark.parametrize("more", [0, 1])
def test_the_last_sum_that_float32_holds_and_the_first_that_it_does_not(more):
    x = np.array([(1 << 24) // 64, 1]).reshape(1, 1, 1, 2)
    weight = np.array([64, more], np.int8).reshape(1, 1, 1, 2)
    assert conv_sums(ops.Conv(), x, weight).item() == (1 << 24) + more
