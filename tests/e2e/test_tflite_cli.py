"""TensorFlow Lite files through every command that takes a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tflite_networks import CHANNELS, CLASSES, INPUT, float_network, int8_network
from tflite_oracle import needs_litert, run_litert

from edgec.cli.app import run_app
from edgec.commands.compile import CompileResult, compile_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(48, *INPUT[1:])).astype(np.float32)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return float_network(tmp_path_factory.mktemp("model") / "net.tflite")


@pytest.fixture(scope="module")
def build(model: Path, tmp_path_factory: pytest.TempPathFactory) -> CompileResult:
    folder = tmp_path_factory.mktemp("build") / "out"
    return compile_model(model, "nucleo_f446re", calibration={"image": X}, out=folder)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    np.savez(tmp_path / "data.npz", x=X, y=RNG.integers(0, CLASSES, len(X)))
    return tmp_path / "data.npz"


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Any:
    capsys.readouterr()
    assert run_app([str(argument) for argument in (*arguments, "--json")]) == 0
    return json.loads(capsys.readouterr().out)


def test_inspect(model: Path, capsys: pytest.CaptureFixture[str]):
    found = run_json(capsys, "inspect", model)
    assert (found["format"], found["opset"], found["supported"]) == ("TensorFlow Lite", 0, True)
    assert [node["op"] for node in found["nodes"]] == [
        "CONV_2D", "DEPTHWISE_CONV_2D", "MEAN", "FULLY_CONNECTED", "SOFTMAX",
    ]  # fmt: skip
    macs = (12 * 12 * 27 + 6 * 6 * 9 + CLASSES) * CHANNELS
    assert found["macs"] == macs
    assert found["parameters"] == (27 + 1 + 9 + 1 + CLASSES) * CHANNELS + CLASSES
    assert run_app(["inspect", str(model)]) == 0
    assert "net (TensorFlow Lite)" in capsys.readouterr().out


def test_compile_checks_everything(build: CompileResult):
    assert [check.what for check in build.report.checks] == ["host", "emulator"]
    assert all(not check.skipped for check in build.report.checks)
    assert [tensor.name for tensor in build.report.inputs] == ["image"]
    assert [tensor.name for tensor in build.report.outputs] == ["scores"]
    copies = [path.name for path in build.folder.glob("model.*")]
    assert copies == ["model.tflite"]


@needs_litert
@pytest.mark.parametrize("on", ["host", "emulator"])
def test_the_build_computes_what_the_interpreter_computes(
    build: CompileResult, model: Path, on: str
):
    x = X[: 8 if on == "host" else 2]
    found = build.run({"image": x}, on)["scores"]
    name = "serving_default_x:0"
    wanted = [next(iter(run_litert(model, {name: x[i : i + 1]}).values())) for i in range(len(x))]
    assert np.abs(found - np.concatenate(wanted)).max() < 0.05


def test_evaluate_beside_the_float_network(
    build: CompileResult, data: Path, capsys: pytest.CaptureFixture[str]
):
    found = run_json(capsys, "evaluate", build.folder, "--data", data)
    assert found["n"] == len(X)
    assert found["agreement"] > 0.9


def test_quantize_writes_a_model_of_the_same_integers(
    build: CompileResult, model: Path, data: Path, capsys: pytest.CaptureFixture[str]
):
    output = data.parent / "net.onnx"
    run_json(capsys, "quantize", model, "--calibration", data, "-o", output)
    again = compile_model(output, "host", out=data.parent / "again")
    found, wanted = (each.run({"image": X})["scores"] for each in (again, build))
    assert np.array_equal(found, wanted)


def test_an_integer_file_keeps_its_integers_and_says_how_it_rounds(tmp_path: Path):
    result = compile_model(int8_network(tmp_path / "m.tflite"), "host", out=tmp_path / "out")
    (tensor,) = result.report.inputs
    assert (tensor.dtype, tensor.scale, tensor.zero_point) == ("int8", np.float32(0.05), 3)
    assert any("rounds twice" in note for note in result.report.notes)
    x = RNG.integers(-128, 128, (3, 6, 6, 4)).astype(np.int8)
    assert result.run({"x": x})["y"].dtype == np.uint8


def test_a_run_of_variable_length_needs_onnx(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    options = ["--board", "host", "--max-length", "8", "--out", str(tmp_path / "out")]
    assert run_app(["compile", str(model), *options]) == 2
    assert "fixes the lengths of its tensors" in capsys.readouterr().err


def test_compress(model: Path, data: Path, capsys: pytest.CaptureFixture[str]):
    output = data.parent / "net.pool.onnx"
    options = ("--calibration", data, "-o", output, "--pool-size", "16", "--layers", "logits")
    run_json(capsys, "compress", model, *options)
    assert output.exists()
