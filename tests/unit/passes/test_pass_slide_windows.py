"""Windows that are carried whole: which ones are, and what they cost."""

from pathlib import Path

import numpy as np
import pytest
from loop_nets import ALL_SORTS, LoopMaker, moving_average, stream_of
from parity import compiled

from edgec.interp import run_graph, state_after
from edgec.ir import qops
from edgec.ir.graph import Graph
from edgec.ir.turns import Loop, Part
from edgec.ir.verify import Stage, verify
from edgec.passes.slide_windows import slide_windows


def slides(graph: Graph) -> int:
    return sum(isinstance(node.attrs, qops.QSlide) for node in graph.nodes)


def same_runs(graph: Graph, passed: Graph) -> None:
    verify(passed, Stage.INTEGER, "slide_windows")
    state: dict[str, np.ndarray] = {}
    for inputs, oracle in stream_of(graph, 6):
        found = run_graph(passed, dict(zip(graph.inputs, inputs, strict=True)), state)
        state = state_after(passed, found)
        for output in graph.outputs:
            assert np.array_equal(found[output], oracle[output])


def shifted(m: LoopMaker, x: str, loop: Loop | None, *, new: int = 1, past: int = 3) -> str:
    """The window of a carried value, whose last rows are carried on."""
    rows = m.carry(m.start(1, past, 8), loop, "rows")
    window = m.op(qops.QConcat(1), rows, x, zero=m.ZERO)
    m.update(m.front(window, 1, new, past), rows)
    return window


@pytest.mark.parametrize("new", [1, 2, 5])
def test_what_is_past_becomes_the_window(new: int):
    m = LoopMaker()
    graph = m.ready(m.table(shifted(m, m.input(1, new, 8), None, new=new)))
    passed = slide_windows(graph)
    assert slides(passed) == 1
    assert [passed.shape(name) for name in passed.state] == [(1, 3 + new, 8)]
    same_runs(graph, passed)


def test_a_window_that_is_carried_whole_is_moved_in_place():
    m = LoopMaker()
    x = m.input(1, 2, 8)
    window = m.carry(m.start(1, 6, 8), None, "window")
    moved = m.op(qops.QConcat(1), m.front(window, 1, 2, 4), x, zero=m.ZERO)
    m.update(moved, window)
    graph = m.ready(m.table(moved))
    passed = slide_windows(graph)
    assert slides(passed) == 1 and len(passed.nodes) == len(graph.nodes) - 1
    same_runs(graph, passed)


def test_the_start_of_a_state_stays_at_the_end_of_the_window():
    m = LoopMaker()
    x = m.input(1, 1, 4)
    rows = m.carry(m.start(1, 3, 4, value=ALL_SORTS), None, "rows")
    window = m.op(qops.QConcat(1), rows, x, zero=m.ZERO)
    m.update(m.front(window, 1, 1, 3), rows)
    graph = m.ready(m.table(window))
    passed = slide_windows(graph)
    assert slides(passed) == 1
    same_runs(graph, passed)


def test_windows_in_a_loop():
    m, loop = LoopMaker(), Loop("turns", 5)
    x_t = m.slice_of(m.input(1, 5, 8), loop, Part(1))
    window = shifted(m, x_t, loop)
    graph = m.graph(m.stacked(m.front(m.table(window), 1, 0, 1), loop, Part(1)))
    passed = slide_windows(graph)
    assert slides(passed) == 1
    same_runs(graph, passed)


def other_reader(m: LoopMaker) -> str:
    x = m.input(1, 1, 8)
    rows = m.carry(m.start(1, 3, 8), None, "rows")
    window = m.op(qops.QConcat(1), rows, x, zero=m.ZERO)
    m.update(m.front(window, 1, 1, 3), rows)
    return m.op(qops.QConcat(1), m.table(rows), window, zero=m.ZERO)


def first_rows(m: LoopMaker) -> str:
    x = m.input(1, 1, 8)
    rows = m.carry(m.start(1, 3, 8), None, "rows")
    window = m.op(qops.QConcat(1), rows, x, zero=m.ZERO)
    m.update(m.front(window, 1, 0, 3), rows)
    return window


def new_first(m: LoopMaker) -> str:
    x = m.input(1, 1, 8)
    rows = m.carry(m.start(1, 3, 8), None, "rows")
    window = m.op(qops.QConcat(1), x, rows, zero=m.ZERO)
    m.update(m.front(window, 1, 1, 3), rows)
    return window


@pytest.mark.parametrize("make", [other_reader, first_rows, new_first])
def test_other_windows_stay(make):
    m = LoopMaker()
    graph = m.ready(m.table(make(m)))
    assert slide_windows(graph) == graph


def test_a_window_is_written_over_itself(tmp_path: Path):
    """No copy but that of the slide; the arena does not hold the window."""
    graph = slide_windows(moving_average(64, 32))
    program = compiled(graph, tmp_path / "library")
    families = [kernel.spec.family for kernel in program.kernels]
    assert "slide" in families and not {"strided_copy", "concat"} & set(families)
    assert program.state_bytes == 64 * 32
    assert program.arena_bytes < 64 * 32
