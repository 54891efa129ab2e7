"""Options without effect are errors that say why; the report names what was in force."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from edgec.cli.app import run_app

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
VIT, MLP, RESNET = (EXAMPLES / f"digits_{name}.onnx" for name in ("vit", "mlp", "resnet"))
DATA = ("--calibration", EXAMPLES / "digits_calibration.npz")
Capsys = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def quantized(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A QDQ model, which brings all its ranges."""
    path = tmp_path_factory.mktemp("quantized") / "mlp.int8.onnx"
    assert run_app(["quantize", str(MLP), "-o", str(path), *map(str, DATA)]) == 0
    return path


def refused(capsys: Capsys, *arguments: object) -> str:
    assert run_app([str(argument) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize(
    ("options", "named", "why"),
    [
        (("--observer", "mse"), "--observer", "searched"),
        (("--observer", "percentile", "--percentile", 99), "--observer, --percentile", "searched"),
        (("--percentile", "99"), "--percentile", "searched"),
        (("--equalize",), "--equalize", "no channel can be scaled"),
        (("--precision", "auto", "--residual", "int8"), "--precision", "a stream of int8"),
        (("--effort", "best"), "--effort", "add --precision auto"),
        (("--runtime-bits",), "--runtime-bits", "no layer of the model has pooled weights"),
    ],
)
def test_transformer(capsys: Capsys, tmp_path: Path, options, named: str, why: str) -> None:
    command = ("compile", VIT, "--board", "host", "--out", tmp_path / "out", *DATA, "--no-build")
    message = refused(capsys, *command, *options)
    assert f"error: {named}: " in message
    assert why in message
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "named", "why"),
    [
        ((*DATA, "--percentile", "99"), "--percentile", "add --observer percentile"),
        ((*DATA, "--observer", "mse", "--percentile", "99"), "--percentile", "keeps a share"),
        (("--observer", "entropy"), "--observer", "no calibration data"),
        (("--bias-correction",), "--bias-correction", "no calibration data"),
        (("--equalize",), "--equalize", "no calibration data"),
        (("--effort", "normal"), "--effort", "there are none"),
        ((*DATA, "--effort", "best", "--no-bias-correction"), "--effort", "biases are corrected"),
    ],
)
def test_network_without_attention(capsys: Capsys, tmp_path: Path, options, named, why) -> None:
    message = refused(capsys, "quantize", MLP, "-o", tmp_path / "q.onnx", *options)
    assert f"error: {named}: " in message
    assert why in message


@pytest.mark.parametrize(
    ("options", "named", "why"),
    [
        (("--residual", "int16"), "--residual", "only transformers"),
        (("--activation-bits", "4"), "--activation-bits", "no layer of the model"),
        (("--max-drop", "1"), "--max-drop", "--activation-bits auto"),
        (("--target-db", "30"), "--target-db", "--precision auto"),
        (("--budget", "flash=1M"), "--budget", "no sizes or cycles"),
    ],
)
def test_compile_only(capsys: Capsys, tmp_path: Path, options, named: str, why: str) -> None:
    command = ("compile", MLP, "--board", "host", "--out", tmp_path / "out", *DATA, "--no-build")
    message = refused(capsys, *command, *options)
    assert f"error: {named}: " in message
    assert why in message


@pytest.mark.parametrize("option", [("--observer", "mse"), ("--equalize",), ("--effort", "best")])
def test_model_that_brings_its_ranges(capsys: Capsys, quantized: Path, option) -> None:
    message = refused(capsys, "quantize", quantized, "-o", "never.onnx", *DATA, *option)
    assert f"error: {option[0]}: " in message


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("compress", MLP, "--shared-pool"), "--shared-pool"),
        (("compress", MLP, "--epochs", "3", "--augment"), "--epochs, --augment"),
    ],
)
def test_other_commands(
    capsys: Capsys, compiled_mlp: Path, arguments: tuple[object, ...], named: str
) -> None:
    arguments = tuple(compiled_mlp if word == "{build}" else word for word in arguments)
    assert f"error: {named}: " in refused(capsys, *arguments)


def in_force(model: Path, folder: Path, *options: object) -> dict[str, object]:
    """The part of the report that says how ranges were found."""
    command = ["compile", model, "--board", "host", "--out", folder, "--no-build", "--no-verify"]
    assert run_app([str(argument) for argument in (*command, *options)]) == 0
    found = json.loads((folder / "report.json").read_text())["calibration"]
    return {name: found[name] for name in found if name not in ("source", "samples")}


def test_report_says_what_was_in_force(quantized: Path, tmp_path: Path) -> None:
    nothing = {"observer": None, "percentile": None, "equalize": False} | {
        "residual": None,
        "effort": None,
    }
    corrected, plain = {"bias_correction": True}, {"bias_correction": False}
    assert in_force(VIT, tmp_path / "a", *DATA) == nothing | corrected | {"residual": "int16"}
    assert in_force(MLP, tmp_path / "b", *DATA) == nothing | corrected | {
        "observer": "mse",
        "equalize": True,
        "effort": "normal",
    }
    chosen = ("--observer", "percentile", "--equalize", "--no-bias-correction")
    wanted = {"observer": "percentile", "percentile": 99.99, "equalize": True, "effort": "fast"}
    assert in_force(RESNET, tmp_path / "c", *DATA, *chosen) == nothing | plain | wanted
    assert in_force(MLP, tmp_path / "d") == nothing | plain | {"observer": "minmax"}
    assert in_force(quantized, tmp_path / "e") == nothing | plain
