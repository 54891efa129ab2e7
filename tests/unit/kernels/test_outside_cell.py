"""An operator with two outputs and state, and its family, both from outside of the package."""

from pathlib import Path

import numpy as np
import pytest
from emulated import emulated, need_emulator
from loop_nets import LoopMaker, stream_of
from outside_cell.family import FAMILY
from outside_cell.operator import QTrend
from parity import check_host, compiled

from edgec.base.errors import SimulationError
from edgec.ir import Graph
from edgec.ir.turns import Loop, Part
from edgec.kernels.registry import FAMILIES
from edgec.sim.compare import compare_crcs, compare_outputs, compare_trace
from edgec.sim.host import HostModel

WITH_OURS = (FAMILY, *FAMILIES)


def trend(m: LoopMaker, x: str, average: str) -> tuple[str, str]:
    """The two outputs of a node."""
    names = tuple(m.builder.fresh(stem) for stem in ("distance", "new"))
    for name in names:
        m.value(name, m.shape(x), m.zero(x))
    m.builder.node("trend", QTrend(m.zero(x)), (x, average), names, ("trend",))
    return names[0], names[1]


def stream() -> Graph:
    """One step of a stream; the average is state of the model."""
    m = LoopMaker(3)
    x = m.input(1, 6, 5)
    average = m.carry(m.start(1, 6, 5), None)
    distance, new = trend(m, x, average)
    m.update(new, average)
    return m.ready(m.table(distance), new)


def loop() -> Graph:
    """All turns of a loop in one run; only one of the outputs is collected."""
    m, turns = LoopMaker(3), Loop("rows", 7)
    x = m.input(1, 7, 5)
    average = m.carry(m.start(1, 1, 5), turns)
    distance, new = trend(m, m.slice_of(x, turns, Part(1, 1)), average)
    m.update(new, average)
    return m.ready(m.stacked(distance, turns, Part(1, 1)))


def test_every_output_of_every_turn_is_exact(tmp_path: Path) -> None:
    program = check_host(loop(), tmp_path, families=WITH_OURS)
    (step,) = (step for step in program.steps if step.more)
    assert [tensor.name for tensor in step.outputs] == ["distance", "new"]
    number = program.steps.index(step)
    calls = [(call.output, call.number) for call in program.calls() if call.step == number]
    assert calls == [(n % 2, n) for n in range(2 * 7)]


def test_two_streams_keep_their_states(tmp_path: Path) -> None:
    graph = stream()
    program = compiled(graph, tmp_path / "library", families=WITH_OURS)
    assert program.state_bytes
    model = HostModel(tmp_path / "library", tmp_path / "build")
    streams = [(model.stream(), stream_of(graph, 20, seed)) for seed in (1, 2)]
    for step in range(20):
        for own, samples in streams:
            inputs, oracle = samples[step]
            compare_trace(program, oracle, own.trace(inputs))


def test_a_wrong_second_output_is_found(tmp_path: Path) -> None:
    graph = stream()
    program = compiled(graph, tmp_path / "library", families=WITH_OURS)
    (inputs, oracle), *_ = stream_of(graph, 1)
    trace = HostModel(tmp_path / "library", tmp_path / "build").trace(inputs)
    wrong = {**oracle, "new": oracle["new"] ^ np.int8(1)}
    with pytest.raises(SimulationError, match=r"trend, writes new"):
        compare_trace(program, wrong, trace)


@pytest.mark.parametrize("board", ["nucleo", "pico", "raspberry_pi_3"])
def test_firmware_computes_both_outputs(board: str, tmp_path: Path) -> None:
    need_emulator(board)
    graph = stream()
    program = compiled(graph, tmp_path / "library", board=board, families=WITH_OURS)
    with emulated(board, tmp_path / "library", program, tmp_path / "project") as firmware:
        for inputs, oracle in stream_of(graph, 3):
            run = firmware.run(inputs, trace=True)
            compare_crcs(program, oracle, run.steps, board)
            compare_outputs(program, oracle, run.outputs, board)
