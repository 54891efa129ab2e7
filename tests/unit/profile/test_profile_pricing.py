"""Counts and cycles of a trace made by hand."""

from __future__ import annotations

import struct

import pytest

from edgec.base.errors import EdgecError
from edgec.profile.pricing import Pricer, floor_of
from edgec.profile.types import Counts
from edgec.sim.emulator_image import FirmwareImage
from edgec.sim.emulator_image import Segment as ImageSegment
from edgec.target.board import list_boards
from edgec.timing.core_m3 import cortex_m3
from edgec.timing.types import NO_BLOCK, Edge, Segment

BASE = 0x0800_0000
CODE = struct.pack(
    "<9H",
    0x6808,  # 00 loop: ldr r0, [r1]
    0x3104,  # 02       adds r1, #4
    0x3A01,  # 04       subs r2, #1
    0xD1FB,  # 06       bne loop
    0x6008,  # 08       str r0, [r1]
    0xFB90,
    0xF0F1,  # 0a       sdiv r0, r0, r1
    0x4770,  # 0e       bx lr
    0x4770,  # 10 leaf: bx lr
)
LOOP = Edge(BASE, 8, BASE)
LEAVE = Edge(BASE, 8, BASE + 8)
RETURN = Edge(BASE + 8, 8, BASE + 16)
LEAF = Edge(BASE + 16, 2, NO_BLOCK)


@pytest.fixture
def pricer() -> Pricer:
    image = FirmwareImage(
        segments=(ImageSegment(BASE, CODE),),
        moved=(),
        initial_sp=0x2000_1000,
        entry=BASE | 1,
        function_starts=(BASE, BASE + 16),
        function_names=("kernel", "leaf"),
    )
    return Pricer(image, cortex_m3())


def segment(edges: dict[Edge, int], **more: dict[int, object]) -> Segment:
    empty = {"fetch_stalls": {}, "data_stalls": {}, "divides": {}}
    return Segment(edges=edges, **{**empty, **more})


def test_executions_are_counted(pricer: Pricer) -> None:
    found = pricer.price(segment({LOOP: 9, LEAVE: 1, RETURN: 1, LEAF: 1})).total
    assert found.instructions == 10 * 4 + 3 + 1
    assert found.loads == 10
    assert found.stores == 1
    assert found.branches == 10 + 1 + 1


def test_taken_branches_cost_a_refill(pricer: Pricer) -> None:
    """DDI 0337, 3.3.1: LDR 2, ALU 1 each, a branch 1, or 1 + P (1 to 3) when it is taken."""
    left = pricer.price(segment({LEAVE: 1})).total.cycles
    looped = pricer.price(segment({LOOP: 1})).total.cycles
    assert left == 5
    assert 6 <= looped <= 8
    assert pricer.price(segment({LOOP: 9, LEAVE: 1})).total.cycles == 9 * looped + left


def test_stalls_and_divides_go_to_the_function_they_happen_in(pricer: Pricer) -> None:
    edges = {RETURN: 3, LEAF: 3}
    plain = pricer.price(segment(edges))
    found = pricer.price(
        segment(
            edges,
            fetch_stalls={BASE + 8: 7, BASE + 16: 2},
            data_stalls={BASE + 8: 10},
            divides={BASE + 10: {0: 1, 20: 2}},
        )
    )
    divides = cortex_m3().divide_cycles(0) + 2 * cortex_m3().divide_cycles(20)
    kernel, leaf = found.functions["kernel"], found.functions["leaf"]
    assert (kernel.fetch_stalls, kernel.data_stalls) == (7, 10)
    assert (leaf.fetch_stalls, leaf.data_stalls) == (2, 0)
    assert kernel.ideal_cycles == plain.functions["kernel"].ideal_cycles + divides
    assert kernel.cycles == kernel.ideal_cycles + 17
    assert found.total == kernel + leaf
    assert found.total.flash_stalls == 19


def test_order_of_the_trace_changes_nothing(pricer: Pricer) -> None:
    edges = {LOOP: 9, LEAVE: 1, RETURN: 1, LEAF: 1}
    backwards = dict(reversed(edges.items()))
    first, second = pricer.price(segment(edges)), pricer.price(segment(backwards))
    assert (first.total, list(first.functions)) == (second.total, list(second.functions))


def test_pace_is_the_price_without_a_taken_branch(pricer: Pricer) -> None:
    assert pricer.pace(BASE, CODE[:8]) == 5


def test_nothing_executed_costs_nothing(pricer: Pricer) -> None:
    assert pricer.price(segment({})).total == Counts()


def test_code_outside_the_firmware_is_an_error(pricer: Pricer) -> None:
    with pytest.raises(EdgecError):
        pricer.price(segment({Edge(BASE + 0x1000, 4, BASE): 1}))


def test_every_board_has_a_floor() -> None:
    for board in list_boards():
        floor = floor_of(board)
        assert 0.5 <= floor.cycles_per_mac <= 2.0
        assert floor.reason
