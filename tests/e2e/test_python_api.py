"""The Python API on small models: what it takes, what it refuses, what comes out."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from bad_input_support import CALIBRATION, MLP, constant, good_weights, saved
from onnx import TensorProto, helper

import edgec
from edgec.base.errors import ConfigError
from edgec.floatrun.float_model import FloatModel

OPTIONS = edgec.CompileOptions(build=False, verify=False)
RNG = np.random.default_rng(7)
TEST = CALIBRATION.parent / "digits_test.npz"


def classifier(ends_in_argmax: bool) -> onnx.ModelProto:
    """4 features, 3 classes; gives scores or the class."""
    nodes = [helper.make_node("Gemm", ["x", "w"], ["s" if ends_in_argmax else "y"], transB=1)]
    if ends_in_argmax:
        nodes.append(helper.make_node("ArgMax", ["s"], ["y"], axis=1, keepdims=0))
    kind = TensorProto.INT64 if ends_in_argmax else TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])],
        [helper.make_tensor_value_info("y", kind, None)],
        [constant("w", good_weights())],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> edgec.CompileResult:
    folder = tmp_path_factory.mktemp("api")
    model = saved(classifier(ends_in_argmax=False), folder)
    x = RNG.normal(size=(20, 4)).tolist()
    return edgec.compile_model(
        model, "host", calibration={"x": x}, out=folder / "out", options=OPTIONS
    )


def test_run_takes_arrays_and_lists(result: edgec.CompileResult) -> None:
    x = RNG.normal(size=(3, 4))
    scores = result.run(x)
    assert isinstance(scores, np.ndarray)
    assert scores.shape == (3, 3)
    np.testing.assert_array_equal(result.run(x.tolist()), scores)
    by_name = result.run({"x": x})
    assert isinstance(by_name, dict)
    np.testing.assert_array_equal(by_name["y"], scores)


@pytest.mark.parametrize(
    "x",
    [np.zeros(4), np.zeros((2, 5)), np.zeros((0, 4)), [["a"] * 4], [[1.0, np.nan, 0, 0]], {"z": 1}],
)
def test_run_refuses_what_does_not_fit(result: edgec.CompileResult, x: object) -> None:
    with pytest.raises(ConfigError, match="samples"):
        result.run(x)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "calibration",
    [{"z": np.zeros((2, 4))}, {"x": np.zeros(4)}, {"x": [["a"] * 4]}, np.zeros((2, 4)), 3],
)
def test_calibration_that_does_not_fit_is_refused(tmp_path: Path, calibration: object) -> None:
    model = saved(classifier(ends_in_argmax=False), tmp_path)
    with pytest.raises(ConfigError, match="calibration"):
        edgec.compile_model(
            model,
            "host",
            calibration=calibration,  # type: ignore[arg-type]
            out=tmp_path / "out",
            options=OPTIONS,
        )
    assert not (tmp_path / "out").exists()


def test_a_model_that_ends_in_argmax_is_evaluated(tmp_path: Path) -> None:
    x = RNG.normal(size=(50, 4)).astype(np.float32)
    y = np.argmax(x @ good_weights().T, axis=1)
    np.savez(tmp_path / "data.npz", x=x, y=y)
    model = saved(classifier(ends_in_argmax=True), tmp_path)
    result = edgec.compile_model(
        model, "host", calibration=str(tmp_path / "data.npz"), out=tmp_path / "out", options=OPTIONS
    )
    classes = result.run(x)
    assert isinstance(classes, np.ndarray)
    assert classes.dtype == np.int64
    found = edgec.evaluate(tmp_path / "out", tmp_path / "data.npz")
    assert found.float_accuracy == 1.0
    assert found.agreement >= 0.9


def test_a_quantized_model_is_judged_without_onnxruntime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whose integer sums differ between processors; the two say the same where those are exact."""
    quantized = tmp_path / "q.onnx"
    edgec.quantize_model(MLP, quantized, calibration=str(CALIBRATION))
    edgec.compile_model(quantized, "host", out=tmp_path / "out", options=OPTIONS)
    data = np.load(TEST)
    scores = FloatModel(quantized, optimize=False).run({"x": data["x"]})
    (found,) = scores.values()
    accuracy = np.mean(found.reshape(len(found), -1).argmax(axis=1) == data["y"])

    def refused(*_: object) -> None:
        raise AssertionError("onnxruntime runs a quantized model")

    monkeypatch.setattr("edgec.workflow.evaluation.FloatModel", refused)
    result = edgec.evaluate(tmp_path / "out", TEST)
    assert abs(result.float_accuracy - accuracy) <= 1 / len(data["y"])
    assert result.agreement > 0.99


def test_progress_is_told_of_steps_and_samples(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    edgec.quantize_model(
        MLP,
        tmp_path / "q.onnx",
        calibration=str(CALIBRATION),
        progress=lambda text, done=0, total=0: told.append((text, done, total)),
    )
    assert ("importing", 0, 0) in told
    assert any(text == "quantizing" and 0 < done <= total for text, done, total in told)


def contents(folder: Path, digest: str = "") -> dict[str, bytes]:
    """Every file below a folder, without the digest, which hangs on the nodes' names."""
    return {
        str(path.relative_to(folder)): path.read_bytes().replace(digest.encode(), b"")
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_same_input_same_bytes_also_by_way_of_the_quantized_file(tmp_path: Path) -> None:
    """Two compilations agree in every file; the QDQ export gives the same library."""
    samples, libraries = str(CALIBRATION), []
    quantized = tmp_path / MLP.name
    edgec.quantize_model(MLP, quantized, calibration=samples)
    for out, model in (("one", MLP), ("two", MLP), ("three", quantized)):
        result = edgec.compile_model(
            model,
            "nucleo",
            calibration=samples if model == MLP else None,
            out=tmp_path / out,
            options=OPTIONS,
        )
        libraries.append(contents(tmp_path / out / "library", result.report.digest[:16]))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert libraries[0] == libraries[2]


def test_a_build_is_loaded_runs_and_shows_itself(result: edgec.CompileResult) -> None:
    build = edgec.load(str(result.folder))
    assert build.report == result.report
    x = RNG.normal(size=(3, 4)).astype(np.float32)
    np.testing.assert_array_equal(build.run(x), result.run(x))
    shown = build._repr_html_()
    assert shown == result._repr_html_()
    assert shown.startswith("<pre>")
    for word in ("fits:", "accuracy:", "checked:", build.report.model):
        assert word in shown


def test_names_of_a_model_are_text_in_a_notebook(result: edgec.CompileResult) -> None:
    report = replace(result.report, model="<script>alert(1)</script>")
    shown = edgec.Build(result.folder, report)._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def test_a_folder_without_a_build_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        edgec.load(tmp_path)
