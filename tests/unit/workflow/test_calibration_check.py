"""Data that a network was not trained on are told from those that it was."""

from __future__ import annotations

import numpy as np
import pytest
from import_models import N, model_of, save

from edgec.base.dtypes import Array
from edgec.base.options import CompileOptions
from edgec.base.resources import data_dir
from edgec.base.samples import Normalize
from edgec.ir.graph import Graph
from edgec.workflow.calibration_check import (
    calibration_warnings,
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
        (lambda x: np.repeat(x[:4], 4, axis=0), "of 16 samples only 4 differ"),
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


def test_data_that_no_pixels_can_become():
    """The file says how pixels are normalized; a network without biases would say nothing."""
    data = calibration()
    path = data_dir("examples") / "digits_resnet.onnx"
    graph = real_model(path, data, CompileOptions()).graph
    pixels = {"x": Normalize(1 / 255)}
    assert calibration_warnings(graph, data, pixels) == ()
    for factor in (3.0, 0.04):
        (warning,) = calibration_warnings(graph, {"x": data["x"] * factor}, pixels)
        assert "pixels as the model's file normalizes them lie in [0, 1]" in warning


def test_warnings_on_several_inputs_keep_their_order():
    """Not that of a set of names, which differs from process to process."""
    data = {name: np.full((4, 3), 9.0, np.float32) for name in "heartily"[::-1]}
    pixels = dict.fromkeys(data, Normalize(1 / 255))
    found = calibration_warnings(Graph("none", {}, {}, (), (), ()), data, pixels)
    names = [warning.split("'")[1] for warning in found if "pixels" in warning]
    assert names == list(data)


def test_few_samples():
    data = {"x": calibration()["x"][:15]}
    path = data_dir("examples") / "digits_resnet.onnx"
    (warning,) = integer_model(path, data, CompileOptions()).quantization.warnings
    assert "15 calibration samples are few: give 16 or more" in warning
    data = {"x": calibration()["x"][:1]}
    assert "1 calibration sample is few" in "".join(
        integer_model(path, data, CompileOptions()).quantization.warnings
    )


def test_the_report_has_the_warnings():
    assert compiled(lambda x: x).quantization.warnings == ()
    (warning,) = compiled(lambda x: x * 255).quantization.warnings
    assert "look too large" in warning
