"""TensorFlow Lite files through every command that takes a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tflite_metadata import metadata, with_files
from tflite_models import Op, T, const, tflite_bytes, write_tflite
from tflite_networks import CHANNELS, CLASSES, INPUT, float_network, int8_network
from tflite_oracle import needs_litert, run_litert
from tflite_wide import network

from edgec.base.options import CompileOptions
from edgec.base.rounding import Rounding
from edgec.cli.app import run_app
from edgec.commands.compile import CompileResult, compile_model
from edgec.workflow.session import open_session

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
    options = CompileOptions(rounding=Rounding.EDGEC)
    path = int8_network(tmp_path / "m.tflite")
    result = compile_model(path, "host", out=tmp_path / "out", options=options)
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


def test_a_network_that_only_chooses(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Found by the campaign `tflite`: no tensor of it has a quality that could be reported."""
    tensors = {
        "x": T((1, 5, 4)),
        "a": const(np.array([2], np.int32)),
        "y": T((1, 5), dtype="int32"),
    }
    path = write_tflite(tmp_path / "m.tflite", tensors, [Op("ARG_MAX", ["x", "a"], ["y"])])
    found = run_json(capsys, "quantize", path, "-o", tmp_path / "q.onnx")
    assert found["layers"] == []


IMAGE = (1, 4, 4, 3)


@pytest.fixture
def labelled_model(tmp_path: Path) -> Path:
    """The mean of each colour, whose names are the labels."""
    tensors = {
        "x": T(IMAGE), "axes": const(np.array([1, 2], np.int32)), "mean": T((1, 3)), "y": T((1, 3)),
    }  # fmt: skip
    ops = [
        Op("MEAN", ["x", "axes"], ["mean"], "ReducerOptions"),
        Op("SOFTMAX", ["mean"], ["y"], "SoftmaxOptions", {"Beta": 1.0}),
    ]
    data = tflite_bytes(tensors, ops, metadata=metadata())
    path = tmp_path / "colour.tflite"
    path.write_bytes(with_files(data, {"labels.txt": "red\ngreen\nblue\n"}))
    return path


def test_metadata_of_a_file_are_used(
    labelled_model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    for number, name in enumerate(("red", "green", "blue")):
        pixels = np.zeros(IMAGE[1:], np.uint8)
        pixels[..., number] = 255
        (tmp_path / "photos" / name).mkdir(parents=True)
        Image.fromarray(pixels).save(tmp_path / "photos" / name / "a.png")
    photos, out = tmp_path / "photos", tmp_path / "out"
    assert run_app(["inspect", str(labelled_model)]) == 0
    text = capsys.readouterr().out
    assert "pixels of x: --normalize scale=1,mean=127.5,std=127.5" in text
    assert "3 labels of y: red, green, blue" in text
    assert "attached files: labels.txt (15 B)" in text
    arguments = [str(labelled_model), "--board", "host", "--calibration", str(photos)]
    assert run_app(["compile", *arguments, "--out", str(out)]) == 0
    found = run_json(capsys, "evaluate", out, "--data", photos)
    assert (found["accuracy"], found["n"]) == (1.0, 3)
    assert run_app(["run", str(out), "--input", str(photos / "green")]) == 0
    assert ": green" in capsys.readouterr().out


def test_inspect_says_how_a_file_is_quantized(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def said(path: Path) -> str:
        capsys.readouterr()
        assert run_app(["inspect", str(path)]) == 0
        return " ".join(capsys.readouterr().out.split())

    assert "quantization: none (float32)" in said(float_network(tmp_path / "float.tflite"))
    int8 = said(int8_network(tmp_path / "int8.tflite"))
    assert "quantization: int8 (int8 activations beside 1 uint8, int8 weights: 1 per" in int8
    wide = said(network(tmp_path / "wide.tflite"))
    assert "16x8 (int16 activations, int8 weights: 2 per channel and 1 per tensor)" in wide
    assert "last bit of TensorFlow Lite Micro: every tensor" in wide
    assert "signature serving_default: image -> scores" in said(tmp_path / "float.tflite")


@pytest.mark.parametrize("board", ["nucleo_f446re", "rpi_pico"])
def test_16_bit_activations_on_a_board(board: str, tmp_path: Path):
    found = compile_model(network(tmp_path / "wide.tflite"), board, out=tmp_path / "out").report
    assert [(check.what, check.skipped) for check in found.checks] == [
        ("host", ""),
        ("emulator", ""),
    ]
    assert (found.inputs[0].dtype, found.inputs[0].library_dtype) == ("float32", "int16")
    result = open_session(tmp_path / "out", "host").run(
        {"image": np.ones((2, 8, 8, 3), np.float32)}
    )
    np.testing.assert_allclose(result["scores"].sum(axis=-1), 1.0, atol=1e-3)
