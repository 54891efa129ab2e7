"""Pooling a few images at a time: the numbers of each window, in little more memory."""

import tracemalloc

import numpy as np
import pytest

from edgec.floatrun import ops_reduce
from edgec.floatrun.ops_reduce import RULES
from edgec.ir import ops

WINDOWS = [
    ((2, 2), (2, 2), (0, 0, 0, 0)),
    ((3, 2), (1, 2), (1, 0, 2, 1)),
    ((3, 3), (2, 2), (1,) * 4),
]


def pooled(attrs, x):
    return RULES[type(attrs)](attrs, ops.OneInput.Inputs(x))


def windows(x, kernel, strides, pads, fill):
    """Every window of images [S, N, H, W, C], [S, N, OH, OW, KH, KW, C]."""
    top, left, bottom, right = pads
    edges = ((0, 0), (0, 0), (top, bottom), (left, right), (0, 0))
    full = np.pad(x, edges, constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(full, kernel, (2, 3))
    return np.moveaxis(view[:, :, :: strides[0], :: strides[1]], 4, -1)


@pytest.mark.parametrize(("kernel", "strides", "pads"), WINDOWS)
@pytest.mark.parametrize("elements", [1, 300, 1 << 16])
def test_images_are_pooled_alike_in_parts_of_any_size(monkeypatch, kernel, strides, pads, elements):
    monkeypatch.setattr(ops_reduce, "_IMAGE_ELEMENTS", elements)
    x = np.random.default_rng(0).normal(size=(5, 2, 6, 7, 3))
    for values, least in ((x, -np.inf), ((50 * x).astype(np.int32), np.iinfo(np.int32).min)):
        found = pooled(ops.MaxPool(kernel, strides, pads), values)
        wanted = windows(values, kernel, strides, pads, least).max(axis=(4, 5))
        assert found.dtype == values.dtype
        np.testing.assert_array_equal(found, wanted)
    total = windows(x, kernel, strides, pads, 0.0).sum(axis=(4, 5))
    count = windows(np.ones_like(x), kernel, strides, pads, 0.0).sum(axis=(4, 5))
    inside = pooled(ops.AveragePool(kernel, strides, pads), x)
    np.testing.assert_allclose(inside, total / count, rtol=1e-12)
    padded = pooled(ops.AveragePool(kernel, strides, pads, count_include_pad=True), x)
    np.testing.assert_allclose(padded, total / (kernel[0] * kernel[1]), rtol=1e-12)


def test_a_padded_pool_needs_no_copy_of_its_input():
    x = np.zeros((16, 1, 64, 64, 32))
    tracemalloc.start()
    try:
        y = pooled(ops.MaxPool((3, 3), (2, 2), (1, 1, 1, 1)), x)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * y.nbytes + x.nbytes / 4
