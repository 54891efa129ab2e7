"""Data that a network was not trained on are told from those that it was."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from import_models import N, model_of, save

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions
from edgec.base.resources import data_dir
from edgec.quant.common.report import (
    CalibrationSource,
    InForce,
    LayerCost,
    LayerQuality,
    PrecisionReport,
    QuantReport,
)
from edgec.report.model import TensorReport
from edgec.workflow.calibration_check import (
    agreement_warnings,
    calibration_warnings,
    evaluation_warnings,
    quality_warnings,
)
from edgec.workflow.integer import IntegerModel, integer_model, real_model

NETWORKS = ("digits_mlp", "digits_resnet", "digits_vit")


def calibration() -> dict[str, Array]:
    with np.load(data_dir("examples") / "digits_calibration.npz") as data:
        return {"x": data["x"][:16]}


def warned(network: str, change) -> tuple[str, ...]:
    data = {name: change(array) for name, array in calibration().items()}
    path = data_dir("examples") / f"{network}.onnx"
    model = real_model(path, data, CompileOptions())
    return calibration_warnings(model.graph, model.calibration)


@pytest.mark.parametrize("network", NETWORKS)
def test_their_own_data_do_not_warn(network):
    assert warned(network, lambda x: x) == ()


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize(
    ("factor", "word"), [(255.0, "large"), (1 / 255, "small"), (1e-9, "small")]
)
def test_data_of_another_scale(network, factor, word):
    (warning,) = warned(network, lambda x: x * np.float32(factor))
    assert f"look too {word} for the network" in warning
    assert "times as far as its biases" in warning


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (np.zeros_like, "all 1,024 values are 0"),
        (lambda x: np.full_like(x, 3.0), "all 1,024 values are 3"),
        (lambda x: (x * 1e-40).astype(np.float32), "all values are below 1e-30"),
        (
            lambda x: x * np.where(np.arange(16) == 5, 1000, 1).reshape(-1, *[1] * (x.ndim - 1)),
            "sample 5 reaches",
        ),
    ],
)
def test_data_that_are_odd_by_themselves(change, words):
    (warning,) = warned("digits_resnet", lambda x: change(x).astype(np.float32))
    assert words in warning


def test_layers_without_biases_say_nothing(tmp_path):
    weight = np.eye(4, dtype=np.float32)
    path = save(model_of([N("MatMul", ["x", "w"], ["y"])], {"x": (1, 4)}, {"w": weight}), tmp_path)
    data = {"x": np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32) * 1e6}
    model = real_model(path, data, CompileOptions())
    assert calibration_warnings(model.graph, model.calibration) == ()


def compiled(change) -> IntegerModel:
    data = {name: change(array) for name, array in calibration().items()}
    return integer_model(data_dir("examples") / "digits_resnet.onnx", data, CompileOptions())


def test_the_report_has_the_warnings():
    assert compiled(lambda x: x).quantization.warnings == ()
    (warning,) = compiled(lambda x: x * 255).quantization.warnings
    assert "look too large" in warning


def test_poor_outputs_are_named():
    model = compiled(lambda x: x)
    output = model.integer.outputs[0]
    in_force = InForce(None, equalize=False, bias_correction=False)
    layers = (LayerQuality("n", "Conv", output, 4.2, 0.0), LayerQuality("m", "Conv", "x", 1.0, 0.0))
    report = QuantReport(CalibrationSource.USER, 8, in_force, (), layers)
    (warning,) = quality_warnings(model.integer, report)
    assert "4.2 dB" in warning
    synthetic = QuantReport(CalibrationSource.SYNTHETIC, 8, in_force, (), layers)
    assert quality_warnings(model.integer, synthetic) == ()


def test_causes_of_int8_noise_are_no_advice_where_tensors_have_int16_codes():
    model = compiled(lambda x: x)
    report = replace(model.quantization, costs=(LayerCost("x", 0.9, "range"),))
    report = replace(report, source=CalibrationSource.USER, layers=())
    (warning,) = quality_warnings(model.integer, report)
    assert "'x' 90% (range: --precision auto)" in warning
    chosen = PrecisionReport(("x",), 3, 31.0, 12.0, 32.0)
    assert quality_warnings(model.integer, replace(report, precision=chosen)) == ()


def report_of(low: float, high: float) -> TensorReport:
    """An input that was calibrated for a range."""
    scale = (high - low) / 255
    return TensorReport(
        "x", "float32", (1, 4), (1, 4), (), "int8", scale, round(-128 - low / scale), 4
    )


@pytest.mark.parametrize(
    ("low", "high", "warns"), [(0, 1, False), (0, 0.5, False), (0, 255, True), (0, 0.004, True)]
)
def test_evaluation_data_of_another_range(low, high, warns):
    data = np.linspace(low, high, 400, dtype=np.float32).reshape(-1, 4)
    found = evaluation_warnings([report_of(0, 1)], {"x": data})
    assert bool(found) is warns
    assert all("calibrated for [0, 1]" in text for text in found)


def test_few_equal_decisions():
    assert agreement_warnings(0.9) == ()
    (warning,) = agreement_warnings(0.08)
    assert "only 8% of the decisions" in warning
