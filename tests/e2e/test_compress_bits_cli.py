"""`edgec compress --bits` as users call it: what it writes, what it says, what it refuses."""

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from pooled_models import save, small_network

from edgec.cli.app import run_app


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save(small_network(), tmp_path / "small.onnx")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.npz"
    images = np.random.default_rng(4).normal(size=(24, 8, 8, 3)).astype(np.float32)
    np.savez(path, x=images, y=np.arange(24) % 10)
    return path


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
    """Exit code and message of a command that must fail with one error."""
    code = run_app(["compress", *map(str, arguments)])
    message = capsys.readouterr().err
    assert message.count("error:") == 1
    assert "Traceback" not in message
    return code, " ".join(message.split())


def test_file_and_report_and_what_a_compile_makes_of_it(
    model: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    command = ["compress", str(model), "--bits", "ternary", "--calibration", str(data)]
    assert run_app([*command, "--eval", str(data), "-v"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    out = model.with_name("small.bits.onnx")
    for expected in ("Ternary weights", "inner_node", "in bytes: first_node", "times smaller"):
        assert expected in told
    weights = [onnx.numpy_helper.to_array(each) for each in onnx.load(out).graph.initializer]
    ternary = [each for each in weights if each.dtype == np.int8 and each.ndim == 4]
    assert len(ternary) == 3
    assert all(set(np.unique(each)) == {-1, 0, 1} for each in ternary)
    folder = tmp_path / "firmware"
    build = ["compile", str(out), "--board", "nucleo", "--calibration", str(data)]
    assert run_app([*build, "-o", str(folder)]) == 0
    report = json.loads((folder / "report.json").read_text())
    assert "packed_filters" in json.dumps(report)


def test_json_and_the_same_bytes_again(
    model: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    found = []
    for name in ("one", "two"):
        out = tmp_path / f"{name}.onnx"
        command = ["compress", str(model), "--bits", "4", "--calibration", str(data), "--json"]
        assert run_app([*command, "--keep", "wide*", "--eval", str(data), "-o", str(out)]) == 0
        (result,) = json.loads(capsys.readouterr().out)
        assert result["bits"] == "4"
        names = [each["node"].split("#")[0] for each in result["layers"]]
        assert names == ["inner_node", "second_node"]
        assert result["narrow_bytes"] == result["int8_bytes"] - 2 * 16 * 16 * 9 // 2
        assert set(result["accuracy"]) == {"real", "int8", "narrow", "n"}
        found.append(out.read_bytes())
    assert found[0] == found[1]


def test_weights_in_the_type_of_four_bits(
    model: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    """A smaller file, and the firmware that the file of int8 weights gives."""
    sizes, sources = [], []
    for types in ("int8", "int4"):
        out = tmp_path / types / "small.onnx"
        out.parent.mkdir()
        command = ["compress", str(model), "--bits", "4", "--calibration", str(data), "--json"]
        assert run_app([*command, "--weight-types", types, "-o", str(out)]) == 0
        (result,) = json.loads(capsys.readouterr().out)
        assert result["file_bytes"] == out.stat().st_size
        sizes.append(out.stat().st_size)
        folder = tmp_path / types / "firmware"
        build = ["compile", str(out), "--board", "nucleo", "--calibration", str(data)]
        assert run_app([*build, "--no-build", "-o", str(folder)]) == 0
        sources.append([each.read_bytes() for each in sorted(folder.rglob("src/*.c"))])
        capsys.readouterr()
    assert sizes[1] < 0.7 * sizes[0]
    assert sources[0] == sources[1]
    assert sources[0]


def test_activations_of_few_bits(
    model: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    out, samples = tmp_path / "few.onnx", ("--calibration", str(data))
    few = ("compress", str(model), "--bits", "2", "--activation-bits", "2")
    assert run_app([*few, *samples, "-o", str(out)]) == 0
    assert "read numbers of 2 bits" in " ".join(capsys.readouterr().out.split())
    operators = [node.op_type for node in onnx.load(out).graph.node]
    assert operators.count("QuantizeLinear") == 3
    build = ["compile", str(out), "--board", "nucleo", *samples, "-o", str(tmp_path / "build")]
    assert run_app(build) == 0


def test_qonnx(model: Path, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """The bits are in the file, and firmware is that of the Q/DQ file."""
    samples = ("--calibration", str(data))
    sources = []
    for name, more in (("qdq", ()), ("qonnx", ("--qonnx",))):
        out = tmp_path / name / "small.onnx"
        out.parent.mkdir()
        command = ["compress", str(model), "--bits", "3", "--keep", "wide*", *samples, *more]
        assert run_app([*command, "--eval", str(data), "-o", str(out)]) == 0
        folder = tmp_path / name / "firmware"
        build = ["compile", str(out), "--board", "nucleo", *samples, "--no-build"]
        assert run_app([*build, "-o", str(folder)]) == 0
        sources.append([each.read_bytes() for each in sorted(folder.rglob("src/*.c"))])
        capsys.readouterr()
    assert sources[0] == sources[1]
    assert sources[0]
    file = onnx.load(out)
    stored = {each.name: onnx.numpy_helper.to_array(each) for each in file.graph.initializer}
    quantizers = [node for node in file.graph.node if node.domain == "qonnx.custom_op.general"]
    assert [(node.op_type, stored[node.input[3]].item()) for node in quantizers] == [
        ("Quant", 3)
    ] * 2
    assert "DequantizeLinear" not in {node.op_type for node in file.graph.node}


@pytest.mark.torch
def test_training(model: Path, data: Path, capsys: pytest.CaptureFixture[str]):
    command = ["compress", str(model), "--bits", "2", "--train", str(data), "--epochs", "1"]
    assert run_app([*command, "--json"]) == 0
    (result,) = json.loads(capsys.readouterr().out)
    assert result["epochs"] == 1
    assert not list(model.parent.glob("*.checkpoint"))


def activation_steps(path: Path) -> list[float]:
    """Steps of what a file rounds."""
    file = onnx.load(path)
    stored = {each.name: onnx.numpy_helper.to_array(each) for each in file.graph.initializer}
    nodes = [node for node in file.graph.node if node.op_type == "QuantizeLinear"]
    return [float(stored[node.input[1]]) for node in nodes]


@pytest.mark.torch
@pytest.mark.parametrize("calibrated", [True, False])
def test_training_of_activations_of_few_bits(
    model: Path,
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    calibrated: bool,
):
    """Steps are those observed, then others; training data serve as calibration data, too."""
    few = ["compress", str(model), "--bits", "2", "--activation-bits", "3", "--json"]
    samples = ["--calibration", str(data)]
    observed, learned = tmp_path / "observed.onnx", tmp_path / "learned.onnx"
    assert run_app([*few, *samples, "-o", str(observed)]) == 0
    training = ["--train", str(data), "--epochs", "2", "--device", "cpu"]
    more = samples if calibrated else []
    assert run_app([*few, *more, *training, "-o", str(learned)]) == 0
    assert '"activation_bits": 3' in capsys.readouterr().out
    before, after = activation_steps(observed), activation_steps(learned)
    assert len(before) == len(after) == 3
    for old, new in zip(before, after, strict=True):
        assert new != old
        assert new == pytest.approx(old, rel=0.1)
    assert not list(tmp_path.glob("*.checkpoint"))
    build = ["compile", str(learned), "--board", "nucleo", *samples, "--no-build"]
    assert run_app([*build, "-o", str(tmp_path / "build")]) == 0


@pytest.mark.parametrize(
    ("more", "code", "expected"),
    [
        (("--bits", "1"), 2, "cost too much accuracy"),
        (("--bits", "8"), 2, "give 4, 3, 2 or ternary"),
        (("--bits", "2", "--pool-size", "16"), 2, "with --bits there is no pool"),
        (("--bits", "2", "--no-reorder", "--ratio", "8"), 2, "with --bits there is no pool"),
        (("--keep", "x"), 2, "pools are chosen by --layers"),
        (("--weight-types", "int4"), 2, "the vectors of a pool are int8"),
        (("--qonnx",), 2, "it has no weight pools"),
        (("--bits", "2", "--qonnx", "--weight-types", "int4"), 2, "stores weights as float32"),
        (("--activation-bits", "2"), 2, "of pools it is an option of edgec compile"),
        (("--bits", "2", "--activation-bits", "2"), 2, "add --calibration, or --train"),
        (("--bits", "2", "--activation-bits", "9"), 2, "give 1 to 8"),
        (("--bits", "2", "--keep", "nothing*"), 5, "matches no layer"),
        (("--bits", "2", "--keep", "*"), 5, "no layer to give few bits"),
        (("--bits", "2", "--epochs", "3"), 2, "nothing to train on"),
        (("--bits", "2", "--renew"), 2, "nothing to train on"),
        (("--bits", "2", "--calibration", "missing.npz"), 2, "no such file"),
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
    assert not model.with_name("small.bits.onnx").exists()


def test_several_models_are_refused(model: Path, capsys: pytest.CaptureFixture[str]):
    code, message = error_of(capsys, model, model, "--bits", "4")
    assert (code, "one after the other" in message) == (2, True)


def test_a_model_in_a_pool_is_refused(model: Path, capsys: pytest.CaptureFixture[str]):
    assert run_app(["compress", str(model), "--pool-size", "16"]) == 0
    capsys.readouterr()
    code, message = error_of(capsys, model.with_name("small.pool.onnx"), "--bits", "4")
    assert (code, "in a pool already" in message) == (5, True)
