"""A model whose runs differ in length, from the command line: `--max-length`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from dynamic_onnx import ids, write_bert

from edgec.base.errors import ConfigError
from edgec.base.options import CompileOptions, MaxLength
from edgec.cli.app import run_app
from edgec.commands.compile import CompileResult, compile_model
from edgec.floatrun.float_model import FloatModel
from edgec.interp import run_graph
from edgec.ir.infer import macs
from edgec.ir.specialize import specialized
from edgec.workflow.checks import shorter_run

MAXIMUM = 12


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bert(tmp_path_factory.mktemp("bert") / "bert.onnx")


@pytest.fixture(scope="module")
def build(model: Path, tmp_path_factory: pytest.TempPathFactory) -> CompileResult:
    return compile_model(
        model,
        "nucleo_f446re",
        calibration={"ids": ids(32, MAXIMUM)},
        out=tmp_path_factory.mktemp("build") / "out",
        options=CompileOptions(max_length=MaxLength(MAXIMUM)),
    )


def saved(folder: Path, **arrays: np.ndarray) -> Path:
    path = folder / "data.npz"
    np.savez(path, **arrays)
    return path


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> Any:
    capsys.readouterr()
    assert run_app([str(argument) for argument in arguments]) == 0
    return json.loads(capsys.readouterr().out)


def failure(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    capsys.readouterr()
    assert run_app([str(argument) for argument in arguments]) in (2, 3)
    return " ".join(capsys.readouterr().err.split())


def test_compile_checks_short_runs_and_says_so(build: CompileResult) -> None:
    assert [check.lengths for check in build.report.checks] == [(1, 6, 12)] * 2
    assert [check.skipped for check in build.report.checks] == [""] * 2
    assert build.report.max_length == MAXIMUM
    assert [tensor.length_axis for tensor in build.report.inputs] == [1]
    assert [tensor.length_axis for tensor in build.report.outputs] == [None, 1]
    header = (build.folder / "library/include/edgec_bert.h").read_text()
    assert "edgec_bert_run_length(edgec_context_t *context, uint32_t length);" in header
    assert "#define EDGEC_BERT_MAX_LENGTH 12" in header
    assert "bytes of a run: 16 * length" in header
    assert "run_length(&context, tokens)" in (build.folder / "report.txt").read_text()


@pytest.mark.parametrize("on", ["host", "emulator"])
def test_the_samples_say_how_long_a_run_is(build: CompileResult, on: str) -> None:
    original = FloatModel(build.folder / "model.onnx")
    for length in (1, 5, MAXIMUM):
        x = ids(3, length, length)
        found = build.run({"ids": x}, on)
        assert found["features"].shape == (3, length, 16)
        wanted = original.run({"ids": x})
        for name, array in wanted.items():
            assert np.abs(found[name] - array).max() < 0.25 * np.abs(array).max()
        graph, sample = shorter_run(build.model.integer, {"ids": x[:1].astype(np.int32)}, length)
        codes = run_graph(graph, sample)["features"]
        exact = graph.quant("features").dequantize(codes)
        assert np.array_equal(found["features"][:1], exact)


def test_run_takes_short_samples(build: CompileResult, tmp_path: Path, capsys) -> None:
    data = saved(tmp_path, ids=ids(4, 5, 1))
    found = run_json(capsys, "run", build.folder, "--input", data, "--json")
    assert np.shape(found["scores"]) == (4, 3)
    assert np.shape(found["features"]) == (4, 5, 16)


def test_evaluate_takes_short_samples(tmp_path: Path, capsys) -> None:
    model = write_bert(tmp_path / "scores.onnx", features=False)
    calibration = saved(tmp_path, ids=ids(32, MAXIMUM))
    options = ["--board", "host", "--max-length", str(MAXIMUM), "--no-build", "--no-verify"]
    files = ["--calibration", str(calibration), "--out", str(tmp_path / "out")]
    assert run_app(["compile", str(model), *options, *files]) == 0
    for length in (4, MAXIMUM):
        x = ids(40, length, length)
        labels = FloatModel(model).run({"ids": x})["scores"].argmax(axis=1)
        data = saved(tmp_path, ids=x, y=labels)
        found = run_json(capsys, "evaluate", tmp_path / "out", "--data", data, "--json")
        assert found["float_accuracy"] == 1.0
        assert found["agreement"] >= 0.9


def test_samples_of_no_length_of_the_model(build: CompileResult, tmp_path: Path, capsys) -> None:
    for length in (0, MAXIMUM + 1):
        data = saved(tmp_path, ids=np.zeros((2, length), np.int64))
        message = failure(capsys, "run", build.folder, "--input", data)
        assert "does not fit" in message
        assert "expected [N, 1 to 12]" in message
    with pytest.raises(ConfigError, match="whole numbers"):
        build.run({"ids": np.full((1, 3), 0.5, np.float32)})


def test_short_runs_take_fewer_cycles(build: CompileResult, tmp_path: Path, capsys) -> None:
    found = {
        n: run_json(capsys, "profile", build.folder, "--length", str(n), "--json")
        for n in (1, 6, MAXIMUM)
    }
    cycles = {n: data["cycles"] for n, data in found.items()}
    assert cycles[1] < 0.4 * cycles[MAXIMUM]
    assert cycles[6] < 0.7 * cycles[MAXIMUM]
    assert "6 tokens" in found[6]["input"]
    graph = build.model.integer
    nodes = {node.output: node for node in graph.nodes}
    for length, data in found.items():
        one = specialized(graph, length)
        for layer in data["layers"]:
            assert layer["macs"] == macs(one, nodes[layer["name"]])
            assert tuple(layer["output_shape"]) == one.shape(layer["name"])
    whole = run_json(capsys, "profile", build.folder, "--json")
    assert whole["cycles"] == cycles[MAXIMUM]
    data = saved(tmp_path, ids=ids(1, 4))
    short = run_json(capsys, "profile", build.folder, "--input", data, "--json")
    assert cycles[1] < short["cycles"] < cycles[6]
    both = "profile", build.folder, "--input", data, "--length"
    assert "have the length 4, not 5" in failure(capsys, *both, "5")
    assert "lengths are 1 to 12" in failure(capsys, "profile", build.folder, "--length", "13")


def test_inspect_shows_the_longest_run(model: Path, capsys) -> None:
    found = run_json(capsys, "inspect", model, "--max-length", "seq=10", "--json")
    assert found["supported"]
    assert found["max_length"] == 10
    assert found["inputs"][0]["shape"] == [1, 10]
    assert run_app(["inspect", str(model), "--max-length", "10"]) == 0
    assert "tokens of a run: 1 to 10" in capsys.readouterr().out


def test_a_model_without_lengths_says_what_to_do(model: Path, tmp_path: Path, capsys) -> None:
    assert "--max-length" in failure(capsys, "inspect", model)
    fixed = write_bert(tmp_path / "fixed.onnx", tokens=8)
    message = failure(capsys, "inspect", fixed, "--max-length", "8")
    assert "no dynamic dimension besides the batch" in message
    assert "dynamic_axes" in message


def test_the_wrong_dimension(model: Path, capsys) -> None:
    message = failure(capsys, "inspect", model, "--max-length", "time=8")
    assert "no input has a dimension 'time'" in message
    assert "seq" in message
    for text in ("seq=", "many", "2", "5000"):
        assert "--max-length" in failure(capsys, "inspect", model, "--max-length", text)


def test_a_table_that_is_too_short(model: Path, capsys) -> None:
    # 20 positions are known: the float model itself has no longer run.
    message = failure(capsys, "inspect", model, "--max-length", "64")
    assert "placed" in message or "Add" in message


def test_shapes_of_other_dimensions(tmp_path: Path, capsys) -> None:
    loaded = onnx.load(write_bert(tmp_path / "bert.onnx"))
    other = onnx.helper.make_tensor_value_info("more", onnx.TensorProto.FLOAT, ["b", "size", "seq"])
    loaded.graph.input.append(other)
    path = tmp_path / "two.onnx"
    onnx.save(loaded, path)
    several = failure(capsys, "inspect", path, "--max-length", "8")
    assert "several dynamic dimensions: seq, size" in several
    another = failure(capsys, "inspect", path, "--max-length", "seq=8")
    assert "--shape more=1,32,8" in another
    wrong = failure(capsys, "inspect", path, "--max-length", "seq=8", "--shape", "more=1,4,9")
    assert "has not the maximum length 8" in wrong


@pytest.mark.parametrize("op", ["Relu", "ReduceMax"])
def test_other_networks_have_lengths_where_they_work_by_position(op, tmp_path, capsys) -> None:
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, "seq", 4])
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(op, ["x"], ["y"], **({"axes": [1]} if op == "ReduceMax" else {}))],
        "g",
        [x],
        [y],
    )
    opsets = [onnx.helper.make_opsetid("", 17)]
    path = tmp_path / "model.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    arguments = ["compile", path, "--board", "host", "--max-length", "8", "--out", tmp_path / "o"]
    if op == "Relu":
        assert run_app([*map(str, arguments), "--no-build"]) == 0
    else:
        assert "along the variable axis" in failure(capsys, *arguments)
