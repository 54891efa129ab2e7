"""Convolutions in blocks: the same bits as in one piece."""

from __future__ import annotations

import numpy as np
import pytest

from edgec.base.portable_algebra import quick_product_of, scaled
from edgec.floatrun import convolved as module
from edgec.floatrun.convolved import convolved
from edgec.ir import image_windows, ops

WINDOWS = [
    ops.Conv(),
    ops.Conv((2, 1), (1, 0, 2, 3), (1, 1)),
    ops.Conv((1, 2), (4, 4, 4, 4), (2, 1)),
    ops.Conv((3, 3), (0, 1, 0, 1), (1, 2), 2),
    ops.Conv((1, 1), (1, 1, 1, 1), (1, 1), 6),
    ops.Conv((2, 2), (6, 0, 6, 0), (1, 1), 6),
]


def in_one_piece(x, weight, bias, window):
    """The definition: one step for each sample and each filter, sums of whole numbers."""
    top, left, bottom, right = window.pads
    full = np.pad(x, ((0, 0), (top, bottom), (left, right), (0, 0)))
    outputs, high, wide, depth = weight.shape
    (down, across), (apart, beside) = window.strides, window.dilations
    rows = range(0, full.shape[1] - (high - 1) * apart, down)
    columns = range(0, full.shape[2] - (wide - 1) * beside, across)
    result = np.empty((len(x), len(rows), len(columns), outputs))
    each = outputs // window.group
    for sample, g in np.ndindex(len(x), window.group):
        own = weight[g * each : (g + 1) * each]
        image = full[sample, :, :, g * depth : (g + 1) * depth]
        read = [
            image[r : r + high * apart : apart, c : c + wide * beside : beside].reshape(-1)
            for r in rows
            for c in columns
        ]
        # All of the sample has one step, as its largest element is in the last row.
        read.append(np.full(own[0].size, np.abs(image).max()))
        if depth == 1 and each == 1:
            made = np.zeros(len(read))
            for tap, factor in enumerate(own.reshape(-1)):
                made = made + np.array(read)[:, tap] * factor
            made = made[:, None]
        else:
            one = np.concatenate(read)[None]
            steps = scaled(one, -1, own[0].size)
            right = scaled(own.reshape(each, -1).T, -2, own[0].size)
            whole = steps.whole.reshape(len(read), -1) @ right.whole
            made = whole * steps.step * right.step
        place = result[sample, :, :, g * each : (g + 1) * each]
        place[...] = made[:-1].reshape(place.shape)
    return result if bias is None else result + bias


@pytest.mark.parametrize("elements", [1, 100, 1 << 15])
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("has_bias", [True, False])
def test_no_bit_depends_on_the_blocks(monkeypatch, elements, window, has_bias):
    monkeypatch.setattr(image_windows, "_BLOCK_ELEMENTS", elements)
    rng = np.random.default_rng(3)
    x = rng.normal(size=(3, 9, 7, 6)) * np.array([1.0, 1e-3, 1e3]).reshape(3, 1, 1, 1)
    weight = rng.normal(size=(6, 3, 2, 6 // window.group))
    bias = rng.normal(size=6) if has_bias else None
    found = convolved(x, weight, bias, window)
    np.testing.assert_array_equal(found, in_one_piece(x, weight, bias, window))


def test_channels_that_are_too_many_to_lay_filters_out_for_a_row(monkeypatch):
    rng = np.random.default_rng(4)
    x, weight = rng.normal(size=(2, 5, 5, 6)), rng.normal(size=(6, 3, 3, 1))
    window = ops.Conv((1, 1), (1, 1, 1, 1), (1, 1), 6)
    found = convolved(x, weight, None, window)
    monkeypatch.setattr(module, "_FEW_CHANNELS", 1)
    np.testing.assert_array_equal(found, convolved(x, weight, None, window))


def test_sums_are_those_of_the_product():
    rng = np.random.default_rng(5)
    x, weight = rng.normal(size=(1, 1, 1, 2000)), rng.normal(size=(4, 1, 1, 2000))
    right = scaled(weight.reshape(4, -1).T, -2, 2000)
    wanted = quick_product_of(x.reshape(1, -1), right)
    found = convolved(x, weight, None, ops.Conv())
    np.testing.assert_array_equal(found.reshape(1, 4), wanted)
