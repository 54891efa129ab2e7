"""`edgec compress` as users call it: what it prints and writes, and what it says to bad input."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from pooled_models import save, small_network, write_pooled

from edgec.base.dtypes import Array
from edgec.cli.app import run_app
from edgec.floatrun.float_model import FloatModel
from edgec.ir.graph import Constant

SMALL = ("--pool-size", "16")


def images(count: int = 24) -> Array:
    return np.random.default_rng(4).normal(size=(count, 8, 8, 3)).astype(np.float32)


def pool_of(path: Path) -> bytes:
    (pool,) = (each for each in onnx.load(path).graph.initializer if each.name == "weight_pool")
    return onnx.numpy_helper.to_array(pool).tobytes()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save(small_network(), tmp_path / "small.onnx")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.npz"
    np.savez(path, x=images(), y=np.arange(24) % 10)
    return path


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
    """Exit code and message of a command that must fail with one error."""
    code = run_app(["compress", *map(str, arguments)])
    message = capsys.readouterr().err
    assert message.count("error:") == 1
    assert "Traceback" not in message
    return code, " ".join(message.split())


def test_report_and_file(
    model: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    out = tmp_path / "deep" / "out.onnx"
    command = ["compress", str(model), *SMALL, "--calibration", str(data), "-o", str(out)]
    assert run_app([*command, "--eval", str(data), "-v"]) == 0
    text = capsys.readouterr().out
    for expected in (
        *("inner_node", "of 16", "0.50", "first_node", "3 input channels do not fill"),
        *("compression of everything", "pooled, 8-bit activations", "pooled, 4-bit activations"),
        f"edgec compile {out}",
        *("24 of the 24 samples of --eval are also in", "accuracy on new samples is likely lower"),
    ):
        assert expected in text
    pooled, original = FloatModel(out), FloatModel(model)
    (scores,) = pooled.run({"x": images()[:1]}).values()
    (wanted,) = original.run({"x": images()[:1]}).values()
    assert scores.shape == wanted.shape
    assert 0 < np.abs(scores - wanted).max() < 2 * np.abs(wanted).max()


def test_json(model: Path, data: Path, capsys: pytest.CaptureFixture[str]):
    command = ["compress", str(model), *SMALL, "--calibration", str(data), "--eval", str(data)]
    assert run_app([*command, "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["output"] == str(model.with_name("small.pool.onnx"))
    assert found["file_bytes"] == Path(found["output"]).stat().st_size
    assert [layer["bits_per_weight"] for layer in found["layers"]] == [0.5, 0.5, 0.5]
    sizes = found["sizes"]
    assert sizes["compression"] == sizes["int8_bytes"] / sizes["pooled_bytes"]
    assert len(found["accuracy"]["pooled"]) == 2
    assert found["accuracy"]["n"] == 24


@pytest.mark.slow
def test_sums_of_vectors(model: Path, data: Path, capsys: pytest.CaptureFixture[str]):
    """`--terms` says how many vectors are added up, `--ratio` finds it; `inspect` tells it."""
    command = ["compress", str(model), *SMALL, "--calibration", str(data)]
    assert run_app([*command, "--terms", "2", "--terms", "wide_w=1", "-v"]) == 0
    assert "terms" in capsys.readouterr().out
    assert run_app(["inspect", "-v", str(model.with_name("small.pool.onnx"))]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "sums of 2" in told
    assert run_app([*command, "--ratio", "4.5", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["sizes"]["compression"] >= 4.5
    assert sum(layer["terms"] for layer in found["layers"]) > len(found["layers"])


def test_channels_get_an_order_that_fits_pools(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """The first layer is not pooled: its filters are those of the model, in another order."""

    def filters(path: Path) -> Array:
        constants = {each.name: each for each in onnx.load(path).graph.initializer}
        return onnx.numpy_helper.to_array(constants["first_w"]).reshape(16, -1)

    found = []
    for option in ("--reorder", "--no-reorder"):
        out = tmp_path / f"{option}.onnx"
        assert run_app(["compress", str(model), *SMALL, option, "-o", str(out)]) == 0
        told = " ".join(capsys.readouterr().out.split())
        assert ("channels between layers have another order" in told) == (option == "--reorder")
        found.append(filters(out))
    ordered, same = found
    assert np.array_equal(same, filters(model))
    assert not np.array_equal(ordered, same)
    assert sorted(map(tuple, ordered)) == sorted(map(tuple, same))


@pytest.mark.slow
def test_one_pool_for_two_models(
    model: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    other = save(small_network(seed=9, channels=24), tmp_path / "other.onnx")
    out = tmp_path / "out"
    command = ["compress", str(model), str(other), "--calibration", str(data), "-o", str(out)]
    assert run_app([*command, *SMALL, "--shared-pool"]) == 0
    text = capsys.readouterr().out
    assert text.count("stores it once") == 2
    assert pool_of(out / "small.pool.onnx") == pool_of(out / "other.pool.onnx")
    code, message = error_of(capsys, *command[1:])
    assert (code, "--shared-pool" in message) == (2, True)
    code, message = error_of(capsys, model, other, "--shared-pool", "--pools", "stage")
    assert (code, "leave out one of the two" in message) == (2, True)
    code, message = error_of(capsys, model, other, "--shared-pool", *("--eval", data) * 3)
    assert (code, "3 data files for 2 models" in message) == (2, True)


@pytest.mark.parametrize(
    ("more", "code", "expected"),
    [
        (("--pool-size", "1"), 2, "cannot have 1 vectors"),
        (("--pool-size", "15", "--signed"), 2, "even number"),
        (("--group", "6"), 2, "cannot have 6 weights"),
        (("--pool-size", "1024", "--layers", "inner_w"), 5, "larger than the 288 vectors"),
        (("--layers", "nothing*"), 5, "matches no layer"),
        (("--group", "16", "--layers", "*node", "--layers", "x"), 5, "matches no layer"),
        (("--epochs", "3"), 2, "nothing to train on"),
        (("--device", "cuda"), 2, "nothing to train on"),
        (("--augment",), 2, "nothing to train on"),
        (("--calibration", "missing.npz"), 2, "no such file"),
    ],
)
def test_bad_options(
    model: Path,
    more: tuple[str, ...],
    code: int,
    expected: str,
    capsys: pytest.CaptureFixture[str],
):
    found, message = error_of(capsys, model, *more)
    assert (found, expected in message) == (code, True), message


@pytest.mark.parametrize(
    ("arrays", "option", "expected"),
    [
        ({"x": images()[:, :4]}, "--calibration", "does not fit"),
        ({"x": np.full((2, 8, 8, 3), np.nan, np.float32)}, "--calibration", "NaN"),
        ({"x": images()}, "--eval", "no labels"),
        ({"x": images()}, "--train", "no labels"),
        ({"x": images(), "y": np.arange(24)}, "--eval", "the model has 10 classes"),
        ({"x": images(), "y": np.arange(23)}, "--train", "expected integers [24]"),
        ({"x": images(), "y": np.full(24, 3)}, "--train", "all 24 samples are of class 3"),
    ],
)
def test_bad_data(
    model: Path,
    tmp_path: Path,
    arrays: dict[str, Array],
    option: str,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    # The data are looked at before anything is trained: PyTorch need not be there.
    monkeypatch.setattr("edgec.commands.compress._check_training", lambda *_: None)
    path = tmp_path / "bad.npz"
    np.savez(path, **arrays)  # type: ignore[arg-type]
    code, message = error_of(capsys, model, option, path)
    assert (code, expected in message) == (2, True), message
    assert not model.with_name("small.pool.onnx").exists()


@pytest.mark.torch
def test_no_gpu(
    model: Path, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    code, message = error_of(capsys, model, "--train", data, "--device", "cuda")
    assert (code, "no GPU" in message) == (2, True)
    code, message = error_of(capsys, model, "--train", data, "--device", "tpu")
    assert (code, "auto, cpu or cuda" in message) == (2, True)


def test_no_pytorch(
    model: Path, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("edgec.finetune.find_spec", lambda _: None)
    code, message = error_of(capsys, model, "--train", data)
    assert (code, "pip install" in message) == (2, True)


@pytest.mark.torch
def test_training_samples_measure_nothing(
    model: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    copy = tmp_path / "under_another_name.npz"
    copy.write_bytes(data.read_bytes())
    code, message = error_of(capsys, model, *SMALL, "--train", data, "--eval", copy)
    assert (code, "trained on says nothing" in message) == (2, True)
    assert not list(tmp_path.glob("*.pool.onnx*"))


@pytest.mark.torch
def test_fine_tuning(model: Path, data: Path, capsys: pytest.CaptureFixture[str]):
    command = ["compress", str(model), *SMALL, "--train", str(data), "--epochs", "1"]
    assert run_app([*command, "--device", "cpu", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["epochs"], found["samples"]) == (1, 24)
    assert sorted(path.name for path in model.parent.glob("small*")) == [
        "small.onnx",
        "small.pool.onnx",
    ]


def test_places_that_cannot_be_written(
    model: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    before = model.read_bytes()
    for output, expected in (
        (model, "the file to write is one to read"),
        (data, "the file to write is one to read"),
        (tmp_path, "is a folder"),
        (data / "out.onnx", "is a file"),
    ):
        code, message = error_of(capsys, model, "--calibration", data, "-o", output)
        assert (code, expected in message) == (2, True), message
    assert model.read_bytes() == before


def test_odd_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    pooled = write_pooled(small_network(), tmp_path / "pooled.onnx")
    code, message = error_of(capsys, pooled)
    assert (code, "in a pool already" in message) == (5, True)
    thin = save(small_network(channels=4), tmp_path / "thin.onnx")
    code, message = error_of(capsys, thin)
    assert (code, "no layer to pool" in message) == (5, True)
    graph = small_network()
    weight = graph.constants["inner_w"].array.copy()
    weight[3, 1, 1, 1] = np.nan
    bad = graph.replace(constants={**graph.constants, "inner_w": Constant("inner_w", weight)})
    code, message = error_of(capsys, save(bad, tmp_path / "nan.onnx"))
    assert code > 0
    assert "NaN" in message
    code, message = error_of(capsys, tmp_path / "missing.onnx")
    assert code > 0
