"""The published arithmetic of benchmarks/ computes what its papers say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from paper_arithmetic import (
    Scaled,
    ibert_exp,
    ibert_gelu,
    ibert_layer_norm,
    ibert_softmax,
    log_int_softmax,
    shift_gelu,
    shiftmax,
)
from transformer_precision import attention_rows, gelu_rows, norm_rows, softmax


def fine(low: float, high: float, scale: float = 1e-3) -> Scaled:
    return Scaled(np.arange(round(low / scale), round(high / scale) + 1)[None], scale)


def test_ibert_exp_is_within_the_error_of_its_parabola():
    x = fine(-8, 0)
    assert np.abs(ibert_exp(x).real - np.exp(x.real)).max() < 3e-3


@pytest.mark.parametrize(("method", "bound"), [(ibert_softmax, 0.01), (shiftmax, 0.05)])
def test_softmaxes(method, bound):
    rng = np.random.default_rng(0)
    x = Scaled(rng.integers(-4000, 4000, (20, 8)), 1e-3)
    assert np.abs(method(x).real - softmax(x.real)).max() < bound


def test_log_int_softmax_gives_powers_of_two():
    rng = np.random.default_rng(0)
    x = Scaled(rng.integers(-4000, 4000, (20, 8)), 1e-3)
    weights = log_int_softmax(x)
    assert set(np.log2(weights[weights > 0]) % 1) == {0.0}
    ratio = weights / softmax(x.real)
    # The inverse is a whole number (2.5 is 3), its logarithm is rounded up from 1.5 * 2^n on.
    assert (ratio[weights > 0] < 1.5 * 1.02).all()
    assert (ratio[weights > 0] > 2.5 / 4 * 0.98).all()


# The factor of I-ViT's division has only a few bits where exponentials are 23 bits long.
@pytest.mark.parametrize(("method", "bound"), [(ibert_gelu, 0.05), (shift_gelu, 0.4)])
def test_gelus(method, bound):
    x = fine(-3, 3, 3 / 127)
    erf = np.array([math.erf(value / math.sqrt(2)) for value in x.real[0]])
    assert np.abs(method(x).real[0] - 0.5 * x.real[0] * (1 + erf)).max() < bound


def test_layer_norm():
    rng = np.random.default_rng(0)
    x = Scaled(rng.integers(-20000, 20000, (5, 64)), 1e-3)
    wanted = (x.real - x.real.mean(1, keepdims=True)) / x.real.std(1, keepdims=True)
    assert np.abs(ibert_layer_norm(x).real - wanted).max() < 1e-3


def test_ours_is_the_most_precise():
    rng = np.random.default_rng(0)
    for deviation in (0.6, 4.0):
        found = attention_rows(rng, deviation)
        ours = found.pop("edgec, before the rounding to 8 bits")
        assert ours > 70 > max(found.values())
    gelu = gelu_rows(rng)
    assert gelu["ideal"] - gelu["edgec: 1024 entries"] < 1
    assert norm_rows(rng)["edgec, 16-bit input"] <= 0.6
