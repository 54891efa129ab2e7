"""State of ONNX models: which inputs and outputs belong together, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from loop_models import STREAMS, Array, info, model, moving_average, node, two_states

from edgec.base.errors import ConfigError
from edgec.base.options import StatePairs
from edgec.base.streams import RESETS
from edgec.exporters.onnx.export import export_real
from edgec.floatrun.executor import Executor
from edgec.floatrun.float_model import FloatModel
from edgec.importers.common.states import paired_names
from edgec.importers.formats import import_model
from edgec.ir.graph import Graph
from edgec.ir.metadata import import_notes, state_pairs
from edgec.ir.verify import Stage, verify

PAIRS = {
    "moving average": {"state": "stateN"},
    "two states": {"h0": "hn", "mem_in": "mem_out"},
}


def imported(proto: onnx.ModelProto, folder: Path, *state: str) -> Graph:
    path = folder / "model.onnx"
    onnx.save(proto, path)
    graph = import_model(path, state=StatePairs.parse(state))
    verify(graph, Stage.REAL)
    return graph


def steps(graph: Graph, count: int = 30) -> dict[str, Array]:
    """Three streams."""
    shape = graph.shape("x")[1:]
    x = np.random.default_rng(7).normal(size=(count, *shape)).astype(np.float32)
    return {"x": x, RESETS: np.arange(count) % (count // 3) == 0}


@pytest.mark.parametrize("how", ["by names", "asked for"])
@pytest.mark.parametrize("name", STREAMS)
def test_state_is_what_onnxruntime_is_fed(name, how, tmp_path):
    proto, pairs = STREAMS[name](), PAIRS[name]
    asked = [f"{a}={b}" for a, b in pairs.items()] if how == "asked for" else []
    graph = imported(proto, tmp_path, *asked)
    assert (graph.inputs, graph.outputs) == (("x",), ("y",))
    assert state_pairs(graph) == pairs
    assert set(graph.state) == set(pairs)
    (note,) = import_notes(graph)
    assert all(f"{a} = {b}" in note for a, b in pairs.items())
    assert ("--state none" in note) == (how == "by names")
    data = steps(graph)
    wanted = FloatModel(proto).run_steps(data, pairs, ["y"])["y"]
    found = Executor(graph, ["y"]).run(data)["y"]
    np.testing.assert_allclose(found.reshape(wanted.shape), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", STREAMS)
def test_an_exported_file_says_its_state(name, tmp_path):
    graph = imported(STREAMS[name](), tmp_path)
    data = steps(graph)
    exported = export_real(graph)
    again = imported(exported, tmp_path)
    assert again.inputs == ("x",)
    assert list(state_pairs(again)) == list(PAIRS[name])
    wanted = Executor(graph, ["y"]).run(data)["y"]
    found = FloatModel(exported).run_steps(data, state_pairs(again), ["y"])["y"]
    np.testing.assert_allclose(found, wanted.reshape(found.shape), rtol=1e-4, atol=1e-5)


def test_a_stored_number_is_that_after_a_reset(tmp_path):
    proto = moving_average()
    start = np.full((1, 4), 3, np.float32)
    proto.graph.initializer.append(onnx.numpy_helper.from_array(start, "state"))
    graph = imported(proto, tmp_path)
    data = {"x": np.zeros((2, 4), np.float32)}
    found = Executor(graph, ["y"]).run(data)["y"].reshape(2, 4)
    np.testing.assert_allclose(found, [[4.5] * 4, [3.375] * 4])
    exported = export_real(graph)
    assert [tensor.name for tensor in exported.graph.initializer].count("state") == 1
    again = Executor(imported(exported, tmp_path), ["y"]).run(data)["y"]
    np.testing.assert_allclose(again.reshape(2, 4), found)


def test_none_makes_inputs_and_outputs_of_state(tmp_path):
    graph = imported(two_states(), tmp_path, "none")
    assert graph.inputs == ("x", "h0", "mem_in")
    assert graph.outputs == ("y", "hn", "mem_out")
    assert not graph.has_state


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("state", "stateN"),
        ("h0", "hn"),
        ("c_0", "c_n"),
        ("h", "h_out"),
        ("hidden", "new_hidden"),
        ("past_key_values.0.key", "present.0.key"),
        ("past_key", "present_key"),
        ("cache_in", "cache_out"),
        ("conv_cache", "conv_cache_out"),
        ("input_state", "output_state"),
        ("h_prev", "h_next"),
        ("prev_h", "h"),
        ("rnn.h.1", "rnn.h.1_out"),
    ],
)
def test_names_that_belong_together(before, after):
    assert paired_names(["x", before], ["y", after]) == {before: after}


@pytest.mark.parametrize(
    ("inputs", "outputs"),
    [
        (["x"], ["xn"]),
        (["image"], ["image_out"]),
        (["tokens", "mask"], ["logits", "masked"]),
        (["h"], ["h_out", "new_h"]),
        (["a", "b"], ["y", "z"]),
    ],
)
def test_names_that_say_nothing(inputs, outputs):
    assert paired_names(inputs, outputs) == {}


def test_a_model_keeps_an_input_and_an_output(tmp_path):
    """What takes data_in and gives data_out, and nothing else, restores data."""
    proto = model(
        [node("Relu", "data_in", "data_out")],
        [info("data_in", "N", 4)],
        [info("data_out", "N", 4)],
    )
    assert not imported(proto, tmp_path).has_state


def test_shapes_that_differ_are_no_pair(tmp_path):
    proto = model(
        [node("Relu", "x", "y"), node("ReduceMax", "h0", "hn", axes=[1])],
        [info("x", "N", 4), info("h0", "N", 4)],
        [info("y", "N", 4), info("hn", "N", 1)],
    )
    assert not imported(proto, tmp_path).has_state


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (["h1=hn"], "--state h1=hn: the model has no input h1\n  hint: inputs: x, h0, mem_in"),
        (["h0=y2"], "the model has no output y2\n  hint: outputs: y, hn, mem_out"),
        (["h0=y"], "--state h0=y: the input is [1, 16], the output [1, 4]"),
        (["h0=hn", "mem_in=hn"], "the output hn is kept twice"),
        (["x=hn", "h0=mem_out", "mem_in=y"], "the input is [1, 8], the output [1, 16]"),
        (["h0"], "cannot read 'h0'"),
        (["h0=hn", "h0=mem_out"], "cannot read 'h0=mem_out'"),
        (["h0=hn", "none"], "cannot read 'none'"),
    ],
)
def test_pairs_that_are_refused(asked, message, tmp_path):
    with pytest.raises(ConfigError) as caught:
        imported(two_states(), tmp_path, *asked)
    assert message in str(caught.value)


def test_something_is_left_to_give_and_to_take(tmp_path):
    proto = model([node("Neg", "a", "b")], [info("a", "N", 4)], [info("b", "N", 4)])
    with pytest.raises(ConfigError, match="no input is left"):
        imported(proto, tmp_path, "a=b")


def test_integers_are_no_state(tmp_path):
    proto = model(
        [node("Relu", "x", "y"), node("Identity", "ids", "next_ids")],
        [info("x", "N", 4), info("ids", "N", 4, kind=onnx.TensorProto.INT64)],
        [info("y", "N", 4), info("next_ids", "N", 4, kind=onnx.TensorProto.INT64)],
    )
    with pytest.raises(ConfigError, match="the input is int32, the output int32: state is float"):
        imported(proto, tmp_path, "ids=next_ids")
