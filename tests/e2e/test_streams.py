"""Loops and state through the commands: compile, run, validate, profile, bundle and export.

The integer graphs take the place of what a file gives: importers have tests of their own.
"""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from emulated import need_emulator
from loop_nets import LoopMaker, stream_of
from onnx import TensorProto, helper

from edgec.base.calls import calls_of
from edgec.base.errors import ConfigError
from edgec.base.options import App, CompileOptions
from edgec.commands import compile as compiling
from edgec.commands.bundle import bundle_models
from edgec.commands.export import export_library
from edgec.ir.graph import Graph
from edgec.ir.turns import Loop, Part
from edgec.profile.instructions import count_instructions
from edgec.profile.measured import read_measurement
from edgec.profile.run import profile
from edgec.report.model import Report
from edgec.target.board import load_board
from edgec.workflow.validation import validate

BOARD = "nucleo_g0b1re"
TURNS, WIDTH = 6, 8


def stream_net() -> Graph:
    """A running sum of rows, and what it was a run before."""
    m = LoopMaker(2)
    x = m.input(1, WIDTH)
    total = m.carry(m.start(1, WIDTH), None, "total")
    before = m.carry(m.start(1, WIDTH, value=7), None, "before")
    added = m.sum_of(m.table(total), x)
    m.update(added, total)
    m.update(total, before)
    y = m.sum_of(before, added)
    return m.ready(y)


def loop_net() -> Graph:
    """Sums of rows, each through a table, in a loop."""
    m, loop = LoopMaker(2), Loop("rows", TURNS)
    x = m.input(1, TURNS, WIDTH)
    total = m.carry(m.start(1, 1, WIDTH), loop)
    added = m.sum_of(m.table(total), m.slice_of(x, loop, Part(1)))
    m.update(added, total)
    return m.ready(m.stacked(added, loop, Part(1)))


def compiled(
    graph: Graph,
    name: str,
    folder: Path,
    patch: pytest.MonkeyPatch,
    board: str = BOARD,
    **options,
) -> compiling.CompileResult:
    """A build whose integer graph is the given one, of a file with its inputs and outputs."""
    (out,) = graph.outputs
    ports = [
        helper.make_tensor_value_info(each, TensorProto.FLOAT, graph.shape(each))
        for each in ("x", out)
    ]
    node = helper.make_node("Relu", ["x"], [out])
    model = helper.make_model(helper.make_graph([node], name, ports[:1], ports[1:]))
    path = folder / f"{name}.onnx"
    onnx.save(model, path)
    original = compiling.quantized_model

    def quantized(*arguments):
        made = original(*arguments)
        return dataclasses.replace(made, integer=graph.replace(name=name))

    patch.setattr(compiling, "quantized_model", quantized)
    return compiling.compile_model(
        path, board, out=folder / name, options=CompileOptions(**options)
    )


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, compiling.CompileResult]:
    need_emulator(BOARD)
    folder = tmp_path_factory.mktemp("streams")
    found = {}
    for name, make in (("stream", stream_net), ("loop", loop_net)):
        with pytest.MonkeyPatch.context() as patch:
            found[name] = compiled(make(), name, folder, patch)
    return found


def samples_of(graph: Graph, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Real numbers of a stream, and what the model makes of them."""
    (output,) = graph.outputs
    stream = stream_of(graph, count)
    codes = np.concatenate([inputs[0] for inputs, _ in stream])
    expected = np.concatenate([oracle[output] for _, oracle in stream])
    return graph.quant("x").dequantize(codes), graph.quant(output).dequantize(expected)


@pytest.mark.parametrize("on", ["host", "emulator"])
def test_samples_are_the_steps_of_one_stream_that_begins_anew(builds, on):
    result = builds["stream"]
    x, expected = samples_of(result.model.integer, 8)
    for _ in range(2):
        assert np.array_equal(result.run(x, on), expected)


@pytest.mark.parametrize("on", ["host", "emulator"])
@pytest.mark.parametrize("name", ["stream", "loop"])
def test_every_tensor_of_every_turn_is_validated(builds, name, on):
    found = validate(builds[name].folder, on=on)
    assert found.exact
    assert found.samples == 3


def test_reports_tell_of_state_and_turns(builds):
    stream, loop = (builds[name].report for name in ("stream", "loop"))
    assert stream.memory.state_bytes == 2 * WIDTH
    assert stream.loops == ()
    assert loop.memory.state_bytes == 0
    assert [each.count for each in loop.loops] == [TURNS]
    assert max(layer.turns for layer in loop.layers) == TURNS
    assert not any(check.skipped for check in loop.checks)
    assert Report.read(builds["loop"].folder) == loop
    text = (builds["stream"].folder / "report.txt").read_text("utf-8")
    assert "state" in text


def test_the_first_difference_is_named_by_step_and_turn(builds, tmp_path, monkeypatch):
    """A library that reads another row in each turn but the first."""
    build = compiled(loop_net(), "wrong", tmp_path, monkeypatch, build=False, verify=False)
    source = next((build.folder / "library" / "src").glob("edgec_wrong.c"))
    text = source.read_text("utf-8")
    assert f"turn_0 * {WIDTH}" in text
    source.write_text(text.replace(f" + turn_0 * {WIDTH}", "", 1), "utf-8")
    found = validate(build.folder)
    assert not found.exact
    assert found.first.first_turns == (1,)
    assert "turn 1 of sample 0" in found.first.turn_words


def test_a_profile_counts_all_turns(builds):
    found = profile(builds["loop"].folder)
    assert len(found.layers) == len(builds["loop"].report.layers)
    once, each = (
        next(layer for layer in found.layers if layer.op == op) for op in ("Carry", "Add")
    )
    assert each.counts.cycles > once.counts.cycles > 0


@pytest.mark.parametrize("board", ["raspberry_pi_3", "raspberry_pi_2"])
def test_instructions_of_a_stream_are_counted_on_linux(tmp_path, monkeypatch, board):
    """The C library of a static program has variables named `state` and `arena`, too."""
    if shutil.which(f"{load_board(board).core.gcc_prefix}gcc") is None:
        pytest.skip("no compiler for Cortex-A is installed")
    build = compiled(stream_net(), "stream", tmp_path, monkeypatch, board, verify=False)
    found = count_instructions(build.folder)
    assert len(found.layers) == len(build.report.layers)
    assert found.total.instructions > 0


def test_a_bundle_shares_the_arena_and_no_state(builds, tmp_path):
    folders = [builds[name].folder for name in ("stream", "loop")]
    bundle = bundle_models(folders, tmp_path / "bundle")
    assert all(model.checked for model in bundle.models)
    config = (tmp_path / "bundle" / "project" / "include" / "app_config.h").read_text("utf-8")
    assert f"EDGEC_APP_STATE_SIZE {2 * WIDTH}U" in config


@pytest.mark.parametrize("form", ["cmake", "arduino", "zephyr", "idf", "c", "platformio"])
def test_exports_give_the_model_memory_for_its_state(builds, form, tmp_path):
    export_library(builds["stream"].folder, form, out=tmp_path / form)
    texts = [path.read_text("utf-8") for path in (tmp_path / form).rglob("*") if path.is_file()]
    assert any("STATE_BYTES]" in text and "sizeof state" in text for text in texts)
    readme = next((tmp_path / form).rglob("README.md")).read_text("utf-8")
    assert "edgec_stream_reset" in readme


def test_main_programs_without_streams_are_refused(tmp_path, monkeypatch):
    graph = stream_net()
    real = compiling.real_model

    def stateful(*arguments):
        found = real(*arguments)
        return dataclasses.replace(found, graph=graph)

    monkeypatch.setattr(compiling, "real_model", stateful)
    monkeypatch.setattr(compiling, "check_could_fit", lambda *_, **__: None)
    with pytest.raises(ConfigError, match="keeps a state"):
        compiled(graph, "benchmark", tmp_path, monkeypatch, app=App.MLPERF)


def test_a_terminals_log_of_turns_is_read(builds, tmp_path):
    """Cycles of all turns of a step together, of runs that may begin in the middle."""
    report = builds["loop"].report
    calls = list(calls_of(report.loops, [len(layer.outputs) for layer in report.layers]))
    lines = []
    for call in calls:
        layer = report.layers[call.step]
        unfinished = layer.op == "TurnStack" and call.turns[-1] < TURNS - 1
        size = 0 if unfinished else layer.output_bytes
        lines.append(f"step={call.step} bytes={size} cycles={10 + call.number}")
    log = tmp_path / "log.txt"
    log.write_text("\n".join([*lines[3:], *lines, "", *lines]), "utf-8")
    found = read_measurement(log, report.layers, report.digest, report.calls)
    assert found.runs == 2
    for step, cycles in enumerate(found.cycles):
        turns = report.layers[step].turns
        assert cycles == 10 * turns + turns * (turns - 1) // 2
