"""Layers with weights of random numbers: every code is TensorFlow Lite Micro's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tflite
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tflite_models import Op, T, const, write_tflite
from tflm_oracle import check_exact, needs_tflm

from edgec.base.errors import QuantizationError
from edgec.base.options import CompileOptions
from edgec.workflow.integer import integer_model

pytestmark = needs_tflm

_TYPES = tflite.ActivationFunctionType
ACTIVATIONS = (_TYPES.NONE, _TYPES.RELU, _TYPES.RELU6, _TYPES.RELU_N1_TO_1)
KINDS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "TRANSPOSE_CONV")
STEP = {"StrideH": 1, "StrideW": 1}


class Layer:
    """The numbers of one layer with 4 inputs and 6 outputs, from one seed."""

    def __init__(self, seed: int, zero: int, y_zero: int, spread: float) -> None:
        rng = np.random.default_rng(seed)
        self.x = {"dtype": "int8", "scale": [float(rng.uniform(0.01, 0.1))], "zero": [zero]}
        self.scales = rng.uniform(0.001, 0.02, 6).astype(np.float32)
        self.w = rng.integers(-127, 128, (6, 3, 3, 4)).astype(np.int8)
        self.bias = rng.integers(-5000, 5000, 6).astype(np.int32)
        reach = 60 * 70 * 6 * self.x["scale"][0] * float(self.scales.mean()) / 120
        self.y = {"dtype": "int8", "scale": [reach * spread], "zero": [y_zero]}


def layer_file(
    folder: Path, kind: str, layer: Layer, activation: int, *, per_channel: bool
) -> Path:
    """A file of one layer."""
    scales = layer.scales.tolist() if per_channel else [float(layer.scales[0])]
    options = {"FusedActivationFunction": activation}
    x_shape: tuple[int, ...] = (1, 5, 4, 4)
    y_shape: tuple[int, ...] = (1, 5, 4, 6)
    weights, axis, names, name = layer.w, 0, ["x", "w", "b"], "Conv2DOptions"
    more = {}
    if kind == "FULLY_CONNECTED":
        weights, name = layer.w.reshape(6, 36), "FullyConnectedOptions"
        x_shape, y_shape = (1, 36), (1, 6)
    elif kind == "DEPTHWISE_CONV_2D":
        weights, axis = layer.w[:1, :, :, :].repeat(1, 0), 3
        weights = np.concatenate([weights, weights[..., :2]], axis=3)
        x_shape, name = (1, 5, 4, 6), "DepthwiseConv2DOptions"
        options |= {**STEP, "DepthMultiplier": 1}
    elif kind == "TRANSPOSE_CONV":
        more = {"shape": const(np.array([1, 10, 8, 6], np.int32))}
        names, name, y_shape = ["shape", "w", "x", "b"], "TransposeConvOptions", (1, 10, 8, 6)
        options |= {"StrideH": 2, "StrideW": 2}
    else:
        options |= STEP
    bias_scale = (np.float32(layer.x["scale"][0]) * np.float32(scales)).tolist()
    tensors = {
        "x": T(x_shape, **layer.x),
        "w": const(weights, scales, axis=axis) if axis else const(weights, scales),
        "b": const(layer.bias, bias_scale),
        "y": T(y_shape, **layer.y),
        **more,
    }
    return write_tflite(folder / "m.tflite", tensors, [Op(kind, names, ["y"], name, options)])


@pytest.mark.parametrize("kind", KINDS)
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    seed=st.integers(0, 2**20),
    zero=st.sampled_from([-128, -5, 0, 127]),
    y_zero=st.sampled_from([-128, -3, 0, 90]),
    spread=st.sampled_from([0.001, 0.05, 1.0, 30.0]),
    activation=st.sampled_from(ACTIVATIONS),
    per_channel=st.booleans(),
)
def test_a_layer_of_random_numbers(
    kind: str,
    seed: int,
    zero: int,
    y_zero: int,
    spread: float,
    activation: int,
    per_channel: bool,
    tmp_path: Path,
):
    layer = Layer(seed, zero, y_zero, spread)
    check_exact(layer_file(tmp_path, kind, layer, activation, per_channel=per_channel))


@pytest.mark.parametrize("y_zero", [-128, 0, 127])
def test_bounds_of_activations_round_halves_away_from_zero(y_zero: int, tmp_path: Path):
    """The scale makes -1 and 1 odd multiples of half a step."""
    layer = Layer(1, 3, y_zero, 1.0)
    layer.y["scale"] = [2 / 51]
    path = layer_file(tmp_path, "CONV_2D", layer, _TYPES.RELU_N1_TO_1, per_channel=True)
    check_exact(path)


def test_an_accumulator_that_would_leave_32_bits_is_refused(tmp_path: Path):
    layer = Layer(2, 0, 0, 1e-9)
    path = layer_file(tmp_path, "FULLY_CONNECTED", layer, _TYPES.NONE, per_channel=False)
    with pytest.raises(QuantizationError, match="shifted left"):
        integer_model(path, None, CompileOptions())
