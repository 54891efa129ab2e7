"""Weights, biases and constant operands as integers; the accumulator guarantee."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quant_samples import Sketch, samples

from edgec.base.dtypes import DType
from edgec.base.errors import QuantizationError
from edgec.base.options import QuantOptions
from edgec.ir import ops
from edgec.ir.graph import Constant
from edgec.ir.qparams import QuantParams
from edgec.ir.verify import Stage, verify
from edgec.quant import annotate
from edgec.quant.common.weights import accumulator_bound, layer_weights, operand_codes


def layer(weight, bias=None, input_scale=0.1):
    """`layer_weights` of float arrays."""
    w = Constant("w", np.asarray(weight, np.float32))
    b = None if bias is None else Constant("b", np.asarray(bias, np.float32))
    return layer_weights(w, b, input_scale, "layer")


def test_each_channel_uses_all_127_steps():
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(6, 3, 3, 4)) * np.geomspace(1e-3, 1e3, 6).reshape(-1, 1, 1, 1)
    found = layer(weight, rng.normal(size=6))
    assert found.weight.dtype == np.int8
    assert np.abs(found.weight).reshape(6, -1).max(axis=1).tolist() == [127] * 6
    np.testing.assert_array_equal(found.scale, found.scale.astype(np.float32))
    real = found.weight * found.scale.reshape(-1, 1, 1, 1)
    assert np.all(np.abs(real - weight) <= 0.5001 * found.scale.reshape(-1, 1, 1, 1))


def test_biases_are_rounded_at_input_scale_times_weight_scale():
    found = layer([[1.27], [2.54]], [0.0101, -0.03], input_scale=0.1)
    np.testing.assert_allclose(found.scale, [0.01, 0.02], rtol=1e-6)
    assert found.bias is not None
    assert found.bias.dtype == np.int32
    assert found.bias.tolist() == [10, -15]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(-30, 30), st.floats(-30, 30), st.floats(-8, 8))
def test_accumulators_never_overflow(seed, weight_exponent, bias_exponent, scale_exponent):
    """Whatever the magnitudes: bounded, and as exact as the bound allows."""
    rng = np.random.default_rng(seed)
    weight = (rng.normal(size=(3, 40)) * 10.0**weight_exponent).astype(np.float32)
    weight[0] = 0.0
    bias = (rng.normal(size=3) * 10.0**bias_exponent).astype(np.float32)
    input_scale = 10.0**scale_exponent
    found = layer_weights(Constant("w", weight), Constant("b", bias), input_scale, "layer")
    assert found.bias is not None
    assert np.all(accumulator_bound(found.weight, found.bias) < 2**31)
    steps = found.scale * input_scale
    # Half a step, or float32's own precision of a scale.
    assert np.all(np.abs(found.bias * steps - bias) <= 0.51 * steps + 1e-6 * np.abs(bias))


def test_huge_biases_raise_the_weight_scale():
    found = layer([[1.0, -1.0], [1.0, 0.5]], [1e9, 1.0], input_scale=0.01)
    assert found.bias is not None
    assert np.all(accumulator_bound(found.weight, found.bias) < 2**31)
    assert found.bias[0] * found.scale[0] * 0.01 == pytest.approx(1e9, rel=1e-6)
    assert np.abs(found.weight[1]).max() == 127


def test_very_wide_layers_are_repaired():
    """300,000 weights of nearly one size: full-scale codes would overflow."""
    found = layer(np.linspace(1.0, 0.99, 300_000)[None], [1.0])
    assert np.all(accumulator_bound(found.weight, found.bias) < 2**31)
    assert 20 <= found.weight[0, 0] < 29
    assert found.notes


def test_channels_of_zeros_keep_the_precision_of_their_bias():
    found = layer(np.zeros((3, 5)), [0.3, -1e-6, 0.0])
    assert not found.weight.any()
    assert found.bias is not None
    np.testing.assert_allclose(found.bias * found.scale * 0.1, [0.3, -1e-6, 0.0], rtol=1e-5)


def test_no_bias_stays_none():
    assert layer([[1.0]]).bias is None


def pinned(codes, dtype, scale, zero_point, axis=None):
    quant = QuantParams(scale, zero_point, dtype, axis)
    return Constant("w", np.asarray(codes, dtype.numpy), quant)


def test_pinned_weights_are_kept_exactly():
    w = pinned([[-128, 5], [7, 127]], DType.INT8, (0.5, 0.25), (0, 0), 0)
    found = layer_weights(w, None, 0.1, "layer")
    np.testing.assert_array_equal(found.weight, w.array)
    assert found.scale.tolist() == [0.5, 0.25]
    assert not found.notes


def test_a_pinned_scale_per_tensor_becomes_one_per_channel():
    w = pinned([[1], [2], [3]], DType.INT8, (0.5,), (0,))
    found = layer_weights(w, None, 0.1, "layer")
    assert found.scale.tolist() == [0.5, 0.5, 0.5]


@pytest.mark.parametrize(("dtype", "zero_point"), [(DType.UINT8, 128), (DType.UINT8, 100)])
def test_offset_weights_are_recentred_when_they_fit(dtype, zero_point):
    w = pinned([[zero_point - 100, zero_point + 27]], dtype, (0.5,), (zero_point,))
    found = layer_weights(w, None, 0.1, "layer")
    assert found.weight.tolist() == [[-100, 27]]
    assert not found.notes


def test_offset_weights_that_do_not_fit_are_requantized_with_a_warning(caplog):
    w = pinned([[0, 255]], DType.UINT8, (0.5,), (10,))
    with caplog.at_level(logging.WARNING):
        found = layer_weights(w, None, 0.1, "layer")
    assert "requantized" in caplog.text
    assert found.weight.tolist() == [[-5, 127]]
    assert found.scale[0] == pytest.approx(0.5 * 245 / 127)
    assert found.notes


def test_pinned_biases_keep_their_codes_at_the_right_scale_alone():
    w = pinned([[10], [20]], DType.INT8, (0.5, 0.25), (0, 0), 0)
    scale = tuple(float(np.float32(0.1 * s)) for s in (0.5, 0.25))
    kept = Constant(
        "b", np.array([1001, -77], np.int32), QuantParams(scale, (0, 0), DType.INT32, 0)
    )
    found = layer_weights(w, kept, 0.1, "layer")
    assert found.bias is not None
    assert found.bias.tolist() == [1001, -77]
    other = Constant("b", kept.array, QuantParams((0.1, 0.1), (0, 0), DType.INT32, 0))
    found = layer_weights(w, other, 0.1, "layer")
    assert found.bias is not None
    assert found.bias.tolist() == [2002, -308]


def test_pinned_weights_that_could_overflow_are_requantized(caplog):
    w = pinned(np.full((1, 70_000), 127), DType.INT8, (0.5,), (0,))
    with caplog.at_level(logging.WARNING):
        found = layer_weights(w, None, 0.1, "layer")
    assert np.all(accumulator_bound(found.weight, found.bias) < 2**31)
    assert found.notes
    real = found.weight[0, 0] * found.scale[0]
    assert real == pytest.approx(63.5, rel=0.01)


def test_a_bias_beyond_all_scales_is_an_error():
    with pytest.raises(QuantizationError, match="layer: the accumulators"):
        layer([[1.0]], [3e38], input_scale=1e-30)


def test_operands():
    c = Constant("c", np.array([0.0, 1.0, 2.55], np.float32))
    codes, quant = operand_codes(c, None)
    assert codes.tolist() == [-128, -28, 127]
    assert quant.tensor_zero_point == -128
    fixed = QuantParams.per_tensor(0.1, 5)
    codes, quant = operand_codes(c, fixed)
    assert codes.tolist() == [5, 15, 30]
    assert quant is fixed
    raw = pinned([0, 255], DType.UINT8, (0.5,), (128,))
    codes, quant = operand_codes(raw, None)
    assert codes.tolist() == [-128, 127]
    assert quant == QuantParams.per_tensor(0.5, 0)
    codes, quant = operand_codes(raw, QuantParams.per_tensor(1.0, 0))
    assert codes.tolist() == [-64, 64]


def test_layers_without_bias_get_one_by_correction_alone():
    s = Sketch()
    x = s.input("x", 1, 4)
    graph = s.graph(s(ops.Gemm(), x, s.normal("w", 3, 4), ""))
    data = samples(graph, 4)
    for corrected in (False, True):
        annotated, _ = annotate(graph, data, QuantOptions(bias_correction=corrected))
        verify(annotated, Stage.ANNOTATED)
        assert (ops.layer_inputs(annotated.nodes[0]).b is None) != corrected
