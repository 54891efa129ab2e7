"""Copies of weights in RAM: where they lie, on which boards, and that the program makes them."""

import dataclasses

import pytest
from dense_layers import Case, graph_of

from edgec.ir import Graph
from edgec.kernels.buffers import buffers_of, scratch_name
from edgec.kernels.placement import with_copied_weights
from edgec.kernels.select import select_kernels
from edgec.lower import lower
from edgec.memory import Buffer, MemoryPlan, check_plan, plan_memory
from edgec.target.board import Board, load_board
from edgec.target.target import Target

CASES = (
    Case(32, 16, 16, kernel=3, pad=1),
    Case(4, 64, 4, kernel=3, pad=1, width=8),
    Case(2, 16, 16, kernel=1, width=4),
    Case(1, 64, 64),
)

NUMBERS = 8
"""Bytes of the bias and the multiplier of a filter, which lie among its weights."""


def planned(graph: Graph, name: str) -> tuple[MemoryPlan, MemoryPlan, tuple[Buffer, ...]]:
    """The plan before and after copies, and their buffers; the plan after them is checked."""
    board = load_board(name)
    choices = select_kernels(graph, Target.of(board))
    buffers, overlaps, _ = buffers_of(graph, choices)
    before = plan_memory(buffers, overlaps)
    after, copies = with_copied_weights(graph, choices, board, before)
    check_plan(after, (*buffers, *copies), overlaps)
    steps = lower(graph, choices, after).steps
    assert sum(step.copy is not None for step in steps) == len(copies)
    assert {step.copy.size_bytes for step in steps if step.copy} == {c.size_bytes for c in copies}
    return before, after, copies


def with_ram(board: Board, size_bytes: int) -> Board:
    """The same board with less memory."""
    assert board.memory is not None
    region = dataclasses.replace(board.memory.ram[0], size_bytes=size_bytes)
    return dataclasses.replace(board, memory=dataclasses.replace(board.memory, ram=(region,)))


def test_weights_that_many_pixels_read_are_copied_where_flash_waits():
    before, after, copies = planned(graph_of(1, CASES), "nucleo_l4r5zi")
    assert [copy.size_bytes for copy in copies] == [16 * (9 * 16 + NUMBERS), 4 * (9 * 64 + NUMBERS)]
    assert before.arena_bytes <= after.arena_bytes <= before.arena_bytes * 9 // 8
    assert {name: after.slots[name] for name in before.slots} == before.slots


def test_scratch_memory_gives_way_to_a_copy():
    """It lies in the middle of the only place where there is room for both."""
    graph, board = graph_of(1, CASES[:1]), load_board("nucleo_l4r5zi")
    choices = select_kernels(graph, Target.of(board))
    buffers, overlaps, _ = buffers_of(graph, choices)
    before = plan_memory(buffers, overlaps)
    scratch = before.slots[scratch_name(graph, choices[0])]
    held = {name: slot for name, slot in before.slots.items() if slot is not scratch}
    low = min(slot.offset for slot in held.values())
    tensors = {
        name: dataclasses.replace(slot, offset=slot.offset - low) for name, slot in held.items()
    }
    end = max(slot.end for slot in tensors.values())
    middle = dataclasses.replace(scratch, offset=end + 2000)
    slots = tensors | {scratch_name(graph, choices[0]): middle}
    split = dataclasses.replace(before, slots=slots, arena_bytes=middle.end)
    small = with_ram(board, middle.end + 4096 + 1504)
    assert small.arena_limit_bytes is not None
    copy = 16 * (9 * 16 + NUMBERS)
    assert end + copy + scratch.size_bytes < small.arena_limit_bytes < middle.end + copy
    after, copies = with_copied_weights(graph, choices, small, split)
    check_plan(after, (*buffers, *copies), overlaps)
    assert [copy.size_bytes for copy in copies] == [16 * (9 * 16 + NUMBERS)]
    assert after.slots[scratch_name(graph, choices[0])] != middle
    assert {name: after.slots[name] for name in tensors} == tensors


@pytest.mark.parametrize("board", ["host", "mps2_an386", "nucleo_h7a3zi_q"])
def test_where_nothing_is_gained_nothing_is_copied(board: str):
    before, after, copies = planned(graph_of(1, CASES), board)
    assert not copies
    assert after == before or after.slots == before.slots


def test_the_limit_of_the_arena_holds():
    graph, board = graph_of(1, CASES[:1]), load_board("nucleo_l4r5zi")
    choices = select_kernels(graph, Target.of(board))
    buffers, overlaps, _ = buffers_of(graph, choices)
    before = plan_memory(buffers, overlaps)
    small = with_ram(board, before.arena_bytes + 4096 + 8)
    assert small.arena_limit_bytes is not None
    after, _ = with_copied_weights(graph, choices, small, before)
    assert after.arena_bytes <= max(small.arena_limit_bytes, before.arena_bytes)
