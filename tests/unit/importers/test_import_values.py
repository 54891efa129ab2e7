"""Inputs that the user fixes: what becomes of them, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from loop_models import info, model, node
from onnx import TensorProto
from vad_model import UNITS, WINDOWS, speech, vad

from edgec.base.errors import ConfigError, EdgecError, ImportModelError, UnsupportedModelError
from edgec.base.options import StatePairs
from edgec.base.streams import RESETS
from edgec.cli.inputs import values_of
from edgec.floatrun.executor import Executor
from edgec.floatrun.float_model import FloatModel
from edgec.importers.formats import import_model, inspect_model, standalone_copy
from edgec.ir.graph import Graph
from edgec.ir.metadata import import_notes, state_pairs
from edgec.ir.verify import Stage, verify

STEPS = 12


def saved(proto: onnx.ModelProto, folder: Path) -> Path:
    path = folder / "model.onnx"
    onnx.save(proto, path)
    return path


def of_rate(folder: Path, rate: int) -> tuple[Graph, Path]:
    path = saved(vad(), folder)
    shapes = {"input": (1, 5 * WINDOWS[rate] // 2)}
    graph = import_model(path, shapes, values={"sr": (rate,)})
    verify(graph, Stage.REAL)
    return graph, path


@pytest.mark.parametrize("rate", WINDOWS)
def test_a_rate_chooses_its_branch(rate, tmp_path):
    graph, path = of_rate(tmp_path, rate)
    assert graph.inputs == ("input",)
    assert state_pairs(graph) == {"state": "stateN"}
    assert any(f"fixed inputs: sr = {rate}" in note for note in import_notes(graph))
    x = speech(STEPS, graph.shape("input")[1], 1)
    wanted = FloatModel(path).run_steps(
        {"input": x, "sr": np.full(STEPS, rate)}, {"state": "stateN"}, ["output"]
    )["output"]
    data = {"input": x, RESETS: np.arange(STEPS) == 0}
    found = Executor(graph, ["output"]).run(data)["output"]
    assert np.ptp(wanted) > 0.05
    np.testing.assert_allclose(found.reshape(wanted.shape), wanted, rtol=1e-4, atol=1e-5)


def test_without_a_rate_the_choice_is_refused(tmp_path):
    path = saved(vad(), tmp_path)
    with pytest.raises(UnsupportedModelError):
        import_model(path, {"input": (1, 160)})


def test_the_copy_of_a_build_has_the_number(tmp_path):
    path = saved(vad(), tmp_path)
    shapes = {"input": (1, 160)}
    suffix, data = standalone_copy(path, shapes, values={"sr": (16000,)})
    copy = tmp_path / f"copy{suffix}"
    copy.write_bytes(data)
    assert [each.name for each in FloatModel(copy).inputs] == ["input", "state"]
    assert import_model(copy, shapes).inputs == ("input",)
    summary = inspect_model(path, shapes, values={"sr": (16000,)})
    assert summary.supported
    assert [each.name for each in summary.inputs] == ["input", "state"]


@pytest.mark.parametrize(
    ("dims", "shapes", "given", "wanted"),
    [
        ((), {}, (2,), np.float32(2)),
        ((1, 3), {}, (2,), [[2, 2, 2]]),
        ((2, 3), {"b": (2, 3)}, (1, 2.5, -1), [[1, 2.5, -1]] * 2),
        (("N", "M"), {"b": (1, 3)}, (1, 2, 3), [[1, 2, 3]]),
        (("batch", 3), {}, (0.5,), [[0.5, 0.5, 0.5]]),
    ],
)
def test_a_number_is_spread_over_the_shape(dims, shapes, given, wanted, tmp_path):
    proto = model([node("Add", "a b", "y")], [info("a", 1, 3), info("b", *dims)], [info("y", 1, 3)])
    graph = import_model(saved(proto, tmp_path), shapes, values={"b": given})
    x = np.asarray([[1, 2, 3]], np.float32)
    found = Executor(graph, ["y"]).run({"a": x})["y"]
    np.testing.assert_array_equal(found.reshape(np.shape(x + wanted)), x + wanted)


@pytest.mark.parametrize(("value", "sign"), [("true", 1), ("0", -1), ("false", -1)])
def test_a_condition_is_fixed(value, sign, tmp_path):
    proto = model(
        [node("Neg", "x", "n"), node("Where", "up x n", "y")],
        [info("x", 1, 3), info("up", 1, kind=TensorProto.BOOL)],
        [info("y", 1, 3)],
    )
    graph = import_model(saved(proto, tmp_path), values=values_of([f"up={value}"]))
    x = np.asarray([[1, 2, 3]], np.float32)
    found = Executor(graph, ["y"]).run({"x": x})["y"]
    np.testing.assert_array_equal(found.reshape(x.shape), sign * x)


def test_another_number_than_the_default_of_the_file(tmp_path):
    stored = {"b": np.asarray([1, 1, 1], np.float32)}
    inputs = [info("a", 1, 3), info("b", 3)]
    proto = model([node("Add", "a b", "y")], inputs, [info("y", 1, 3)], stored)
    graph = import_model(saved(proto, tmp_path), values={"b": (4,)})
    found = Executor(graph, ["y"]).run({"a": np.zeros((1, 3), np.float32)})["y"]
    np.testing.assert_array_equal(found.reshape(3), [4, 4, 4])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"rate": (1,)},
            "--value: the model has no input 'rate'\n  hint: inputs: input, state, sr",
        ),
        ({"sr": (0.5,)}, "--value sr: 0.5 is no int64"),
        ({"sr": (1 << 63,)}, "--value sr: 9223372036854775808 is no int64"),
        ({"sr": (1, 2)}, "2 numbers do not fit the input, which is []\n  hint: give one number"),
        ({"state": (0,)}, "--value state: the input is state: it takes the output stateN"),
    ],
)
def test_values_that_are_refused(values, message, tmp_path):
    with pytest.raises(EdgecError) as caught:
        import_model(saved(vad(), tmp_path), values=values)
    assert message in str(caught.value)
    assert isinstance(caught.value, ConfigError | ImportModelError)


def test_something_is_left_to_take(tmp_path):
    proto = model([node("Neg", "x", "y")], [info("x", 1, 4)], [info("y", 1, 4)])
    with pytest.raises(ConfigError, match="no input is left"):
        import_model(saved(proto, tmp_path), values={"x": (1,)})


def test_a_fixed_input_needs_a_shape(tmp_path):
    path = saved(_sum("N", "M"), tmp_path)
    with pytest.raises(ImportModelError, match=r"leaves dimensions of its inputs open: s .1x\?"):
        import_model(path, values={"s": (1,)})
    with pytest.raises(ConfigError, match=r"x: 1e\+39 is no float32"):
        import_model(saved(_sum(), tmp_path), values={"x": (1e39,)})


def _sum(*dims: str) -> onnx.ModelProto:
    inputs = [info("x", 1, 4), info("s", *(dims or (1, 4)))]
    return model([node("Add", "x s", "y")], inputs, [info("y", 1, 4)])


def test_strings_and_pairs_that_the_user_gives_are_refused(tmp_path):
    text = info("s", 1, kind=TensorProto.STRING)
    proto = model([node("Neg", "x", "y")], [info("x", 1, 4), text], [info("y", 1, 4)])
    with pytest.raises(ConfigError, match="the input has elements of type"):
        import_model(saved(proto, tmp_path), values={"s": (1,)})
    with pytest.raises(ConfigError, match="the input is state: it takes the output y"):
        import_model(
            saved(_sum(), tmp_path), {}, StatePairs({"s": "y"}, automatic=False), {"s": (1,)}
        )


def test_what_is_state_by_its_name_may_be_fixed_where_none_is_kept(tmp_path):
    shapes = {"input": (1, 160), "state": (2, 1, UNITS)}
    values = {"sr": (16000,), "state": (0.25,)}
    none = StatePairs.parse(["none"])
    graph = import_model(saved(vad(), tmp_path), shapes, none, values)
    assert graph.inputs == ("input",)
    assert graph.outputs == ("output", "stateN")


@pytest.mark.parametrize("text", ["sr", "=1", "sr=", "sr=x", "sr=nan", "sr=1,,2", "sr=1e999"])
def test_texts_that_cannot_be_read(text):
    with pytest.raises(ConfigError, match="cannot read the value"):
        values_of([text])


def test_texts():
    assert values_of(["a=1", "b=-2.5,1e3", "c=True"]) == {"a": (1,), "b": (-2.5, 1000.0), "c": (1,)}
    with pytest.raises(ConfigError, match="cannot read the value 'a=2'"):
        values_of(["a=1", "a=2"])


def test_a_tflite_file_has_none(tmp_path):
    path = tmp_path / "model.tflite"
    path.write_bytes(b"")
    for read in (import_model, inspect_model):
        with pytest.raises(ConfigError, match="inputs of a TensorFlow Lite file cannot be fixed"):
            read(path, values={"x": (1,)})
