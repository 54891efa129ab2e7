"""Networks with a state of their own that take sound."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from c_programs import SANITIZE, Build
from data_folder import needed_data_folder
from onnx import TensorProto, helper, numpy_helper
from push_support import push_program, pushed
from sounds import speech_like

from edgec.base.options import CompileOptions, FrontEndOptions, StatePairs
from edgec.commands.compile import CompileResult, compile_model
from edgec.frontends.nodes import FrontEnd
from edgec.frontends.parameters import PRESETS, parameters_of
from edgec.interp import run_stream
from edgec.profile.run import profile
from edgec.workflow.codes import to_model
from edgec.workflow.listening import listening
from edgec.workflow.validation import validate

OKAY_NABU = "microwakeword_okay_nabu_int8.tflite"
CLIPS = np.concatenate([speech_like(16_000, seed) for seed in range(6)])
FRAMES, KEPT = 2, 4


def remembering(folder: Path, features: int) -> Path:
    """Two frames a run; those of the two runs before are the state, which is 0.5 at first."""
    rng = np.random.default_rng(1)
    width = (KEPT + FRAMES) * features
    arrays = {
        "w": rng.normal(0, width**-0.5, (width, 3)).astype(np.float32),
        "start": np.array([FRAMES], np.int64),
        "end": np.array([KEPT + FRAMES], np.int64),
        "axis": np.array([1], np.int64),
        "flat": np.array([1, width], np.int64),
    }
    nodes = [
        helper.make_node("Concat", ["past", "x"], ["whole"], axis=1),
        helper.make_node("Slice", ["whole", "start", "end", "axis"], ["next"]),
        helper.make_node("Reshape", ["whole", "flat"], ["line"]),
        helper.make_node("MatMul", ["line", "w"], ["y"]),
    ]
    shapes = {"x": [1, FRAMES, features], "past": [1, KEPT, features]}
    given = {"y": [1, 3], "next": [1, KEPT, features]}
    ports = [
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in each.items()]
        for each in (shapes, given)
    ]
    weights = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "remembering", *ports, weights)
    path = folder / "remembering.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


def built(folder: Path, text: str, board: str = "host", *, build: bool = False) -> CompileResult:
    front = FrontEndOptions.parse(text)
    path = remembering(folder, parameters_of(front).features)
    options = CompileOptions(
        front_end=front, state=StatePairs({"past": "next"}, automatic=False), build=build
    )
    return compile_model(path, board, calibration={"x": CLIPS}, out=folder / "out", options=options)


@pytest.mark.parametrize("text", ["micro", "mlperf-sww", "mfcc:window=480,hop=320,coefficients=8"])
def test_the_state_begins_with_the_first_whole_frame(text, tmp_path):
    """Samples give the outputs that the network alone gives for frames from the first one on."""
    result = built(tmp_path, text)
    front, graph = result.report.front_end, result.model.integer
    line = np.pad(CLIPS[0], (front.lead, 0))
    runs = line[: len(line) // front.frames * front.frames].reshape(-1, 1, front.frames)
    (name,) = graph.inputs
    steps = list(run_stream(graph, [{name: run} for run in runs]))[front.warm_up :]
    (carry,) = [each for each in graph.state if graph.producers[each].attrs.held_runs]
    first = graph.constants[graph.producers[carry].first].array
    assert np.array_equal(steps[0][carry], first)
    assert not np.array_equal(steps[1][carry], first)
    wanted = [step[graph.outputs[0]].ravel().tolist() for step in steps]
    program = push_program(result, tmp_path, Build("gcc", SANITIZE))
    (tmp_path / "pcm").write_bytes(CLIPS[0].tobytes())
    for most in (1, 200, front.frames):
        assert pushed(program, tmp_path / "pcm", most) == wanted, most


def test_recordings_begin_anew_each(tmp_path):
    """Each gives the output after its last run, and so does the file in float."""
    result = built(tmp_path, "micro")
    together = result.run(CLIPS[:3])
    alone = np.concatenate([result.run(each[None]) for each in CLIPS[:3]])
    assert np.array_equal(together, alone)
    with listening(result.folder, "host") as listener:
        heard = listener.hear(CLIPS[0][: result.report.front_end.window])
        assert np.array_equal(next(iter(heard.outputs.values()))[-1:], together[:1])
    np.savez(tmp_path / "clips.npz", x=CLIPS)
    found = validate(tmp_path / "out", tmp_path / "clips.npz")
    assert found.exact
    assert found.outputs[0].distance.nse > 0.99


@pytest.mark.data
def test_okay_nabu_hears_what_it_hears_of_features(tmp_path):
    """Samples through front end and network: the outputs of its features, on the board as well."""
    folder, front = needed_data_folder(), FrontEndOptions.parse("micro")
    path = folder / "models" / OKAY_NABU
    features = FrontEnd("micro", PRESETS["micro"]).features_of(CLIPS)
    alone = compile_model(path, "host", out=tmp_path / "a", options=CompileOptions(build=False))
    heard = compile_model(
        path, "nucleo_l4r5zi", out=tmp_path / "b", options=CompileOptions(front_end=front)
    )
    assert heard.report.front_end.warm_up == 1
    (port,) = alone.report.inputs
    for clip, rows in zip(CLIPS, features, strict=True):
        steps = rows[: len(rows) // 3 * 3].reshape(-1, *port.shape[1:])
        with listening(tmp_path / "b", "host") as listener:
            (found,) = listener.hear(clip).outputs.values()
        assert np.array_equal(found.ravel(), alone.run(to_model(steps, port)).ravel())
    layers = profile(tmp_path / "b").layers
    # The first run has no whole frame, and a profile is of the next one.
    assert next(each for each in layers if each.op == "MicroFeatures").counts.cycles > 100_000
