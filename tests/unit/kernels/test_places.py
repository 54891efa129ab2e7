"""Copies between turns: made only where a view, or writing in place, does not do."""

import numpy as np
import pytest
from loop_nets import (
    LOOPS,
    STREAMS,
    LoopMaker,
    along_columns,
    cumulative_sum,
    nested,
    stream_of,
    two_layers,
    two_states,
    unit_delay,
)
from lower_samples import BOARD
from targets import by_precedence

from edgec.base.errors import InternalError
from edgec.base.options import Placement
from edgec.codegen import emit_library
from edgec.ir import qops
from edgec.ir.graph import Graph
from edgec.ir.turns import Loop, Part
from edgec.kernels.buffers import buffers_of, loop_steps
from edgec.kernels.places import BORDERS, Place, places_of
from edgec.kernels.select import select_kernels
from edgec.lower.placed import lowered
from edgec.lower.resident import Share
from edgec.memory import Space
from edgec.sim.compare import compare_trace
from edgec.sim.host import HostModel
from edgec.target.board import load_board
from edgec.target.target import Target


def copies(graph: Graph) -> list[str]:
    """Operators at the border of loops, and slices that copy all, that have a kernel."""
    found = []
    for choice in select_kernels(graph, BOARD):
        whole = isinstance(choice.node.attrs, qops.QSlice)
        whole = whole and graph.shape(choice.node.input) == graph.shape(choice.node.output)
        if whole or isinstance(choice.node.attrs, BORDERS):
            found.append(choice.node.op)
    return found


def test_a_running_sum_is_filled_once_and_written_over_itself():
    graph = cumulative_sum()
    # The sum is wanted in two places: the carried value, and the tensor of all turns.
    assert copies(graph) == ["QCarry", "QTurnStack"]


def test_parts_that_begin_between_words_are_copied():
    assert copies(cumulative_sum(7, 5)) == ["QCarry", "QTurnSlice", "QTurnStack"]


def test_a_kernel_writes_straight_into_the_tensor_of_all_turns():
    m, loop = LoopMaker(), Loop("rows", 3)
    x_t = m.slice_of(m.input(1, 3, 8), loop, Part.backwards(1, 3))
    graph = m.ready(m.stacked(m.table(x_t), loop, Part(1)))
    choices = select_kernels(graph, BOARD)
    assert [choice.node.op for choice in choices] == ["QLut"]
    places = places_of(graph, choices)
    assert places["qturnslice"] == Place("x", 16, (-8,))
    assert places["qlut"] == Place("y", 0, (8,))


def test_parts_across_rows_are_copied():
    # The carried value of the last turn, before its update, is an output.
    assert copies(along_columns()) == ["QCarry", "QSlice", "QTurnSlice", "QTurnStack"]


def test_a_part_of_a_part_moves_with_both_loops():
    graph = nested()
    places = places_of(graph, select_kernels(graph, BOARD))
    assert places["pixel"] == Place("x", 32, (40, -8))
    assert places["back"] == Place("y", 0, (40,))
    assert places["last"] == Place("total")
    assert places["qadd"] == Place("total")


def test_an_initial_value_that_nobody_else_reads_becomes_the_carried_one():
    m, loop = LoopMaker(), Loop("rows", 3)
    x = m.input(1, 3, 8)
    start = m.table(m.front(x, 1, 0, 1))
    total = m.carry(start, loop)
    added = m.sum_of(total, m.slice_of(x, loop, Part(1)))
    m.update(added, total)
    graph = m.ready(m.last(added, loop))
    assert copies(graph) == []
    places = places_of(graph, select_kernels(graph, BOARD))
    assert {places[name].root for name in ("h", "qadd", "last", "next h")} == {start}


def test_the_last_reader_writes_over_a_state():
    m = LoopMaker()
    x = m.input(1, 8)
    total = m.carry(m.start(1, 8), None, "total")
    added = m.sum_of(total, x)
    m.update(added, total)
    graph = m.ready(m.table(added))
    assert copies(graph) == []
    buffers, _, places = buffers_of(graph, select_kernels(graph, BOARD))
    assert places[added] == Place("total")
    assert {b.name: b.space for b in buffers}["total"] is Space.STATE


def test_a_state_that_is_an_output_too_is_copied():
    assert copies(two_states()) == ["QSlice", "QUpdate"]
    assert copies(unit_delay()) == ["QSlice", "QUpdate"]


def test_values_of_a_loop_live_in_all_its_steps():
    graph = two_layers(10, 8)
    choices = select_kernels(graph, BOARD)
    (steps,) = loop_steps(graph, choices)
    buffers = {each.name: each for each in buffers_of(graph, choices)[0]}
    assert buffers["x"].end_step >= steps.end_step
    assert buffers["h"].first_step < steps.first_step
    assert buffers["h"].end_step >= steps.end_step
    assert buffers["y"].first_step == steps.first_step


def test_no_output_lies_over_what_the_next_turn_reads():
    for make in {**LOOPS, **STREAMS}.values():
        graph = make()
        buffers, overlaps, _ = buffers_of(graph, select_kernels(graph, BOARD))
        homes = {each.name: each for each in buffers}
        for each in overlaps:
            spaces = {homes[name].space for name in (each.output, each.input)}
            assert spaces == {Space.ARENA}


def test_graphs_whose_updates_come_too_early_are_refused():
    m = LoopMaker()
    x = m.input(1, 8)
    a, b = m.carry(m.start(1, 8), None, "a"), m.carry(m.start(1, 8), None, "b")
    m.update(b, a)
    m.update(a, b)
    with pytest.raises(InternalError, match="read after its update"):
        select_kernels(m.graph(m.sum_of(a, x)), BOARD)


def test_weights_are_copied_once_before_all_loops(tmp_path):
    """Of a layer that reads its weights once a call, on a board whose flash makes it wait."""
    m, turns = LoopMaker(3), 40
    outer = Loop("outer", 2)
    inner = Loop("inner", turns, outer)
    x = m.input(1, 2, 4 * turns, 64)
    row = m.slice_of(m.slice_of(x, outer, Part(1)), inner, Part(2, 4, 4))
    out = m.conv(row, 16, kernel=1, zero=m.ZERO, constant=0.0)
    graph = m.ready(m.stacked(m.stacked(out, inner, Part(2, 4, 4), "rows"), outer, Part(1)))
    board = load_board("nucleo_l4r5zi")
    choices = select_kernels(graph, by_precedence(Target.of(board)))
    made = lowered(graph, choices, board, Share(Placement.FLASH))
    (copy,) = [step.copy for step in made.program.steps if step.copy is not None]
    emit_library(made.program, tmp_path / "library")
    text = (tmp_path / "library" / "src" / "edgec_test.c").read_text("utf-8")
    assert text.index("= memcpy(arena +") < text.index("for (int32_t turn_0")
    assert copy.size_bytes >= 16 * 64
    stream = HostModel(tmp_path / "library", tmp_path / "build").stream()
    for inputs, oracle in stream_of(graph, 2):
        compare_trace(made.program, oracle, stream.trace(inputs))


def test_calls_come_in_the_order_of_turns():
    graph = nested(2, 3)
    choices = select_kernels(graph, BOARD)
    program = lowered(graph, choices, load_board("host"), Share(Placement.FLASH)).program
    calls = [(call.step, call.turns, call.number) for call in program.calls()]
    row = [(1, (0,), 0), *((s, (0, t), t) for t in range(3) for s in (2, 3)), (4, (0,), 0)]
    assert calls[: 1 + len(row)] == [(0, (), 0), *row]
    assert calls[1 + len(row)] == (1, (1,), 1)
    assert calls[2 + len(row)] == (2, (1, 0), 3)
    assert np.unique([step for step, _, _ in calls]).tolist() == list(range(len(program.steps)))
