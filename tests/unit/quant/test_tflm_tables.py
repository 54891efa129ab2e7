"""Functions of one int8 tensor: every code is what TensorFlow Lite's kernels compute."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tflite_models import Op, T, write_tflite
from tflite_oracle import needs_litert, run_litert
from tflm_oracle import check_exact, needs_tflm, plain_integers

from edgec.base.dtypes import DType
from edgec.interp import run_graph
from edgec.ir import ops
from edgec.ir.ops import UnaryKind
from edgec.ir.qparams import QuantParams
from edgec.quant.convert.tflm.act_codes import act_code
from edgec.quant.convert.tflm.tables import table

ALL = np.arange(-128, 128).astype(np.int8).reshape(1, 256)
SCALES = st.floats(2**-9, 0.5, width=32)
RATIOS = st.floats(0.25, 4.0, width=32)
ZEROS = st.one_of(st.sampled_from([-128, -127, 0, 127]), st.integers(-128, 127))
QUICK = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
OF_MICRO = ("QUANTIZE", "RELU", "HARD_SWISH", "ABS", "ELU")
OF_LITE = ("RELU_N1_TO_1", "EXP", "GELU")
FIXED = {"LOGISTIC": (1 / 256, -128), "TANH": (1 / 128, 0)}


def file(
    folder: Path,
    op: str,
    x: tuple[float, int],
    y: tuple[float, int],
    kind: str = "",
    options: Mapping[str, Any] | None = None,
) -> Path:
    tensors = {
        name: T((1, 256), dtype="int8", scale=[scale], zero=[zero])
        for name, (scale, zero) in (("x", x), ("y", y))
    }
    return write_tflite(folder / "f.tflite", tensors, [Op(op, ["x"], ["y"], kind, options or {})])


@needs_tflm
@pytest.mark.parametrize("op", OF_MICRO)
@QUICK
@given(scale=SCALES, ratio=RATIOS, x_zero=ZEROS, y_zero=ZEROS)
def test_as_tensorflow_lite_micro(
    tmp_path: Path, op: str, scale: float, ratio: float, x_zero: int, y_zero: int
):
    y_scale = float(np.float32(scale * ratio))
    check_exact(file(tmp_path, op, (scale, x_zero), (y_scale, y_zero)), [{"x": ALL}])


@needs_tflm
@pytest.mark.parametrize("op", FIXED)
@QUICK
@given(scale=SCALES, x_zero=ZEROS)
def test_functions_of_a_fixed_output_scale(tmp_path: Path, op: str, scale: float, x_zero: int):
    check_exact(file(tmp_path, op, (scale, x_zero), FIXED[op]), [{"x": ALL}])


@needs_tflm
@QUICK
@given(scale=SCALES, ratio=RATIOS, y_zero=ZEROS)
def test_rsqrt(tmp_path: Path, scale: float, ratio: float, y_zero: int):
    """TensorFlow Lite Micro stops at negative numbers."""
    y_scale = float(np.float32(scale**-0.5 * ratio / 200))
    check_exact(file(tmp_path, "RSQRT", (scale, -128), (y_scale, y_zero)), [{"x": ALL}])


@needs_tflm
@QUICK
@given(scale=SCALES, zero=ZEROS)
def test_relu6_keeps_the_scale(tmp_path: Path, scale: float, zero: int):
    check_exact(file(tmp_path, "RELU6", (scale, zero), (scale, zero)), [{"x": ALL}])


@needs_tflm
@QUICK
@given(
    scale=SCALES,
    ratio=RATIOS,
    x_zero=ZEROS,
    y_zero=ZEROS,
    alpha=st.floats(-0.75, 1.5, width=32),
)
def test_leaky_relu(
    tmp_path: Path, scale: float, ratio: float, x_zero: int, y_zero: int, alpha: float
):
    y_scale = float(np.float32(scale * ratio))
    options = "LeakyReluOptions", {"Alpha": alpha}
    path = file(tmp_path, "LEAKY_RELU", (scale, x_zero), (y_scale, y_zero), *options)
    check_exact(path, [{"x": ALL}])


@needs_litert
@pytest.mark.parametrize("op", OF_LITE)
@QUICK
@given(scale=SCALES, ratio=RATIOS, x_zero=ZEROS, y_zero=ZEROS)
def test_as_the_reference_of_tensorflow_lite(
    tmp_path: Path, op: str, scale: float, ratio: float, x_zero: int, y_zero: int
):
    """TensorFlow Lite Micro has no integer kernel of these."""
    path = file(tmp_path, op, (scale, x_zero), (float(np.float32(scale * ratio)), y_zero))
    graph = plain_integers(path)
    found = run_graph(graph, {"x": ALL})[graph.outputs[0]]
    assert np.array_equal(found, run_litert(path, {"x": ALL})["y"])


def params(scale: float, zero: int) -> QuantParams:
    return QuantParams.per_tensor(scale, zero, DType.INT8)


def test_functions_without_a_rule_or_of_other_scales_have_no_table():
    x = params(0.1, 3)
    assert table(ops.Unary(UnaryKind.SOFTPLUS), x, x) is None
    assert table(ops.Unary(UnaryKind.SIGMOID), x, params(1 / 128, -128)) is None
    assert table(ops.Unary(UnaryKind.TANH), x, params(1 / 128, 1)) is None
    # The output is so fine that the 16-bit product would be shifted to the left.
    assert table(ops.Unary(UnaryKind.HARD_SWISH), x, params(0.0001, 0)) is None


def test_bounds_of_activation_functions_round_halves_away_from_zero():
    y = params(4.0, -10)
    assert [act_code(real, y) for real in (-6.0, -2.0, 2.0, 6.0)] == [-12, -11, -9, -8]
    assert (act_code(np.inf, y), act_code(-np.inf, y)) == (127, -128)
