"""`edgec quantize --train` as users call it: what it prints and writes, and its errors."""

import json
from pathlib import Path

import numpy as np
import pytest
from bad_input_support import model_of, saved
from onnx import helper, numpy_helper
from places import REPOSITORY

from edgec.base.options import CompileOptions
from edgec.cli.app import run_app
from edgec.floatrun.float_model import FloatModel
from edgec.interp import run_graph_batch
from edgec.workflow.integer import integer_model

EXAMPLES = REPOSITORY / "examples"
MLP, RESNET, VIT = (EXAMPLES / f"digits_{name}.onnx" for name in ("mlp", "resnet", "vit"))
TEST = EXAMPLES / "digits_test.npz"
WIDE = REPOSITORY / "networks" / "resnet8_cifar10.onnx"
"""A network of other images."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The first 200 samples of the test part, to train on: here nothing is measured by them."""
    path = tmp_path / "train.npz"
    with np.load(TEST) as held:
        np.savez(path, x=held["x"][:200], y=held["y"][:200])
    return path


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
    """Exit code and message of a command that must fail with one error."""
    code = run_app(["quantize", *map(str, arguments)])
    message = capsys.readouterr().err
    assert message.count("error:") == 1
    assert "Traceback" not in message
    return code, " ".join(message.split())


@pytest.mark.torch
def test_report_and_file(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "deep" / "mlp.int8.onnx"
    command = ["quantize", str(MLP), "--train", str(data), "--epochs", "2", "-o", str(out)]
    assert run_app([*command, "--teacher", str(RESNET), "--device", "cpu", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    training = found["training"]
    assert (training["epochs"], training["trained"], training["held_back"]) == (2, 180, 20)
    assert training["checked"] > 0
    assert training["unequal"] == 0
    assert sorted(path.name for path in out.parent.iterdir()) == ["mlp.int8.onnx"]
    # A file for any runtime; edgec's integers are those of onnxruntime, up to its ties.  Its int8
    # kernels saturate sums of 16 bits where the processor has no VNNI: operator by operator.
    with np.load(TEST) as held:
        x, y = held["x"][200:300], held["y"][200:300]
    (scores,) = FloatModel(out, optimize=False).run({"x": x}).values()
    integer = integer_model(out, None, CompileOptions()).integer
    (output,) = integer.outputs
    quant = integer.quant(output)
    codes = run_graph_batch(integer, {"x": integer.quant("x").quantize(x)})[output]
    gaps = np.abs(codes.astype(int) - quant.quantize(scores).reshape(codes.shape).astype(int))
    assert gaps.max() <= 1
    assert (gaps > 0).mean() < 0.02
    assert (codes.reshape(100, -1).argmax(1) == y).mean() > 0.9


@pytest.mark.torch
def test_accuracy_is_measured_before_and_after(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    few = tmp_path / "few.npz"
    with np.load(TEST) as held:
        np.savez(few, x=held["x"][300:340], y=held["y"][300:340])
    out = tmp_path / "mlp.int8.onnx"
    command = ["quantize", str(MLP), "--train", str(data), "--epochs", "1", "-o", str(out)]
    assert run_app([*command, "--eval", str(few), "--device", "cpu"]) == 0
    text = capsys.readouterr().out
    for expected in ("20 of 200 training samples", "Accuracy on 40 samples", "all equal"):
        assert expected in text
    assert "kept: epoch 1 of 1" in text or "none of 1 epochs was better" in text


def test_accuracy_without_training(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "mlp.int8.onnx"
    few = tmp_path / "few.npz"
    with np.load(TEST) as held:
        np.savez(few, x=held["x"][:40], y=held["y"][:40])
    calibration = EXAMPLES / "digits_calibration.npz"
    command = ["quantize", str(MLP), "--calibration", str(calibration), "--eval", str(few)]
    assert run_app([*command, "-o", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["training"] is None
    assert found["accuracy"]["trained"] is None
    assert found["accuracy"]["real"] - found["accuracy"]["int8"] < 0.1


@pytest.mark.parametrize(
    "option", [("--epochs", "3"), ("--augment",), ("--views", "2"), ("--teacher", str(RESNET))]
)
def test_options_without_training_data(
    option: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    code, message = error_of(capsys, MLP, *option, "-o", tmp_path / "out.onnx")
    assert (code, "there is nothing to train on" in message) == (2, True), message


@pytest.mark.parametrize("command", ["quantize", "compress"])
@pytest.mark.parametrize("seed", ["-1", "4294967296", "9" * 40])
def test_numbers_that_are_no_seed(
    command: str, seed: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    words = (command, MLP, "--train", data, "--seed", seed, "-o", tmp_path / "out.onnx")
    assert run_app([*map(str, words)]) == 2
    message = capsys.readouterr().err
    assert message.count("error:") == 1
    assert "--seed: the number is too" in message


@pytest.mark.torch
@pytest.mark.parametrize("command", ["quantize", "compress"])
def test_only_images_are_varied(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    weight = np.random.default_rng(1).normal(size=(64, 10)).astype(np.float32)
    node = helper.make_node("MatMul", ["x", "w"], ["y"], name="layer")
    model = saved(
        model_of([node], [numpy_helper.from_array(weight, "w")], input_shape=(1, 64)), tmp_path
    )
    train = tmp_path / "train.npz"
    x = np.random.default_rng(2).normal(size=(40, 64)).astype(np.float32)
    np.savez(train, x=x, y=(x @ weight).argmax(1))
    for options, message in (
        (("--augment",), "--augment: the network reads no images"),
        (("--views", "2"), "--views 2: without --augment there is one view of the samples"),
        (("--renew",), "--renew: images are drawn anew in each epoch"),
        (("--renew", "--views", "1"), "--renew: images stay as they are"),
    ):
        words = (command, model, "--train", train, *options, "-o", tmp_path / "out.onnx")
        assert run_app([*map(str, words)]) == 2
        assert message in capsys.readouterr().err


@pytest.mark.torch
@pytest.mark.parametrize("command", ["quantize", "compress"])
def test_more_views_than_memory_holds_are_refused_at_once(
    command: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    words = (command, RESNET, "--train", data, "--augment", "--views", 9_000_000)
    assert run_app([*map(str, words), "-o", str(tmp_path / "out.onnx")]) == 2
    told = capsys.readouterr().err
    assert "9000000 views of" in told
    assert "or fewer" in told
    assert "ordering channels" not in told
    assert "clustering" not in told, "before the pool is looked for"
    assert list(tmp_path.iterdir()) == [data]


def test_no_pytorch(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("edgec.finetune.find_spec", lambda _: None)
    code, message = error_of(capsys, MLP, "--train", data, "-o", tmp_path / "out.onnx")
    assert (code, "pip install" in message) == (2, True)


@pytest.mark.torch
def test_what_cannot_be_trained(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = tmp_path / "out.onnx"
    quantized = tmp_path / "quantized.onnx"
    calibration = str(EXAMPLES / "digits_calibration.npz")
    command = ["quantize", str(MLP), "--calibration", calibration, "-o", str(quantized)]
    assert run_app(command) == 0
    capsys.readouterr()
    unlabelled = tmp_path / "unlabelled.npz"
    with np.load(data) as held:
        np.savez(unlabelled, x=held["x"])
    copy = tmp_path / "under_another_name.npz"
    copy.write_bytes(data.read_bytes())
    for arguments, code, expected in (
        ((VIT, "--train", data), 13, "networks with LayerNormalization are not trained"),
        ((quantized, "--train", data), 13, "the model is quantized already"),
        ((MLP, "--train", unlabelled), 2, "no labels"),
        ((MLP, "--train", data, "--eval", copy), 2, "that were trained on says nothing"),
        ((MLP, "--train", data, "--teacher", tmp_path / "missing.onnx"), 3, "no such model file"),
        ((MLP, "--train", data, "--teacher", WIDE), 13, "the teacher does not read its inputs as"),
        ((MLP, "--train", data, "--device", "tpu"), 2, "auto, cpu or cuda"),
    ):
        found, message = error_of(capsys, *arguments, "-o", out)
        assert (found, expected in message) == (code, True), message
    for read in (MLP, data):
        found, message = error_of(capsys, MLP, "--train", data, "-o", read)
        assert (found, "the file to write is one to read" in message) == (2, True)
    assert not list(tmp_path.glob("out.onnx*"))
