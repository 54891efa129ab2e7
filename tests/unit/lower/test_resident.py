"""Weights in RAM: which ones, in which region, and what is refused."""

import dataclasses

import pytest
from dense_layers import Case, graph_of

from edgec.base.errors import MemoryPlanError
from edgec.base.options import Placement
from edgec.ir import Graph
from edgec.kernels.select import select_kernels
from edgec.lower.bind import bind
from edgec.lower.placed import Lowered, _steps_in_ram, lowered
from edgec.lower.program import Resident
from edgec.lower.resident import FIRMWARE_BYTES, Residence, Share
from edgec.target.board import Board, load_board
from edgec.target.target import Target

CASES = (
    Case(1, 256, 128),
    Case(16, 16, 16, kernel=3, pad=1),
    Case(1, 64, 64),
)
LONG = (Case(1, 512, 128), Case(32, 16, 16, kernel=3, pad=1))
DENSE = (Case(1, 256, 128), Case(1, 128, 128), Case(1, 64, 64))
AUTO, FLASH, SRAM = (Share(each) for each in (Placement.AUTO, Placement.FLASH, Placement.SRAM))


def made(graph: Graph, board: Board, share: Share) -> Lowered:
    return lowered(graph, select_kernels(graph, Target.of(board)), board, share)


def with_ram(board: Board, **sizes: int) -> Board:
    """The same board with regions of other sizes."""
    assert board.memory is not None
    ram = tuple(
        dataclasses.replace(region, size_bytes=sizes.get(region.name, region.size_bytes))
        for region in board.memory.ram
    )
    return dataclasses.replace(board, memory=dataclasses.replace(board.memory, ram=ram))


def placed_bytes(found: Lowered, region: str | None = None) -> int:
    """Bytes of the constants that lie in a region, or in any."""
    return sum(
        found.program.constants[each.constant].array.nbytes
        for each in found.residence.constants
        if region in (None, each.region)
    )


def test_flash_leaves_all_where_it_is_and_says_what_auto_would_do() -> None:
    graph, board = graph_of(1, CASES), load_board("nucleo_l4r5zi")
    found = made(graph, board, FLASH)
    assert not found.program.resident and not found.residence.constants
    auto = made(graph, board, AUTO)
    assert found.possible.constants == auto.residence.constants
    assert found.possible.saved_cycles == auto.residence.saved_cycles > 0
    assert found.program.digest != auto.program.digest


def test_auto_places_what_flash_makes_the_core_wait_for_in_place_of_copies() -> None:
    graph, board = graph_of(1, LONG), load_board("nucleo_l4r5zi")
    flash, auto = made(graph, board, FLASH), made(graph, board, AUTO)
    assert any(step.copy for step in flash.program.steps)
    assert not any(step.copy for step in auto.program.steps)
    assert auto.program.arena_bytes < flash.program.arena_bytes
    assert placed_bytes(auto) == auto.program.constant_bytes
    # Weights of one row are read once: 2.5 cycles a word of 5 wait states and 8 bytes.
    assert auto.residence.saved_cycles >= 512 * 128 / 4 * 2.5


def test_a_step_reads_ram_if_its_largest_constant_lies_there() -> None:
    """Beside weights there are sums and multipliers, which alone make no copy needless."""
    graph, board = graph_of(1, LONG), load_board("nucleo_l4r5zi")
    bound = bind(graph, select_kernels(graph, Target.of(board)))
    dense, convolution = (call.reads for call in bound.calls)
    sizes = {index: bound.constants[index].array.nbytes for index in dense}
    weights, *others = sorted(dense, key=lambda index: -sizes[index])
    assert others and sizes[weights] > sizes[others[0]]

    def steps(*constants: int) -> frozenset[int]:
        return _steps_in_ram(
            bound, Residence("sram", tuple(Resident(each, "sram") for each in constants), 0.0)
        )

    assert steps(*others) == frozenset()
    assert steps(weights) == {0}
    assert steps(*others, *convolution) == {1}


def test_the_hottest_come_first_where_room_is_short() -> None:
    """The convolution reads its weights again for every few pixels."""
    graph = graph_of(1, CASES)
    whole = made(graph, load_board("nucleo_l4r5zi"), FLASH)
    convolution = whole.program.steps[1]
    weights = sum(whole.program.constants[i].array.nbytes for i in convolution.constants)
    own = whole.program.arena_bytes + 4096 + FIRMWARE_BYTES
    board = with_ram(load_board("nucleo_l4r5zi"), sram=own + weights * 4 // 3 // 8 * 8 + 64)
    found = made(graph, board, AUTO)
    assert found.residence.constants[0].constant in convolution.constants
    assert 0 < placed_bytes(found) <= weights + 64


@pytest.mark.parametrize("name", ["mps2_an386", "microbit"])
def test_auto_places_nothing_where_flash_never_waits(name: str) -> None:
    assert not made(graph_of(1, CASES[2:]), load_board(name), AUTO).residence.constants


def test_a_part_of_the_free_memory_stays_free() -> None:
    graph = graph_of(1, CASES)
    board = with_ram(load_board("nucleo_l4r5zi"), sram=40 * 1024)
    free = 40 * 1024 - 4096 - FIRMWARE_BYTES - made(graph, board, FLASH).program.arena_bytes
    assert placed_bytes(made(graph, board, AUTO)) <= free * 3 // 4
    assert placed_bytes(made(graph, board, Share(Placement.AUTO, kept=2))) <= free // 2


def test_the_budget_of_the_firmware_holds() -> None:
    graph, board = graph_of(1, CASES), load_board("nucleo_l4r5zi")
    arena = made(graph, board, FLASH).program.arena_bytes
    budget = arena + 4096 + FIRMWARE_BYTES + 3000
    found = made(graph, board, Share(Placement.AUTO, ram_bytes=budget))
    assert 0 < placed_bytes(found) <= 3000


def test_sram_takes_all_or_says_how_much_is_missing() -> None:
    graph, board = graph_of(1, CASES), load_board("nucleo_f446re")
    found = made(graph, board, SRAM)
    assert {each.constant for each in found.program.resident} == set(
        range(len(found.program.constants))
    )
    with pytest.raises(MemoryPlanError) as raised:
        made(graph, with_ram(board, sram=24 * 1024), SRAM)
    assert f"{found.program.constant_bytes:,} bytes" in str(raised.value)
    assert "in sram" in str(raised.value)
    assert "--placement auto" in str(raised.value)


def test_sram_needs_no_room_for_copies() -> None:
    """RAM is used to the last byte: weights that lie there are not copied into the arena."""
    graph, board = graph_of(1, LONG), load_board("nucleo_l4r5zi")
    found, flash = made(graph, board, SRAM), made(graph, board, FLASH)
    assert found.program.arena_bytes < flash.program.arena_bytes
    assert board.memory is not None
    own = board.memory.stack_bytes + FIRMWARE_BYTES + found.program.arena_bytes
    exact = own + placed_bytes(found)
    tight = made(graph, board, dataclasses.replace(SRAM, ram_bytes=exact))
    assert placed_bytes(tight) == placed_bytes(found)
    with pytest.raises(MemoryPlanError):
        made(graph, board, dataclasses.replace(SRAM, ram_bytes=exact - 4))


def test_sram_fills_two_regions_with_the_largest_first_where_need_be() -> None:
    """The largest constant takes all that one region has, all others what the other has."""
    graph, board = graph_of(1, DENSE[::-1]), load_board("nucleo_h7a3zi_q")
    program = made(graph, board, SRAM).program
    sizes = sorted(each.array.nbytes for each in program.constants)
    assert board.memory is not None and board.memory.data_in == "dtcm"
    own = board.memory.stack_bytes + FIRMWARE_BYTES + program.arena_bytes
    small = with_ram(board, dtcm=own + sizes[-1], axi_sram=sum(sizes[:-1]))
    found = made(graph, small, SRAM)
    assert (placed_bytes(found, "dtcm"), placed_bytes(found)) == (sizes[-1], sum(sizes))


def test_tightly_coupled_memory_takes_the_arena_then_weights() -> None:
    graph, board = graph_of(1, DENSE), load_board("nucleo_h7a3zi_q")
    found = made(graph, board, AUTO)
    assert found.residence.arena_in == "dtcm"
    assert {each.region for each in found.residence.constants} == {"dtcm"}
    assert made(graph, board, FLASH).residence.arena_in == "axi_sram"
    # The largest layer finds no room any more, the others do.
    small = made(graph, with_ram(board, dtcm=48 * 1024), AUTO)
    assert small.residence.arena_in == "dtcm"
    assert 0 < placed_bytes(small) < placed_bytes(found)


def test_an_arena_that_would_fill_tightly_coupled_memory_stays_where_it_was() -> None:
    graph, board = graph_of(1, LONG), load_board("nucleo_h7a3zi_q")
    assert made(graph, board, AUTO).residence.arena_in == "dtcm"
    tight = with_ram(board, dtcm=32 * 1024)
    assert made(graph, tight, AUTO).residence.arena_in == "axi_sram"


def test_ram_behind_the_core_s_cache_is_no_nearer_than_fast_flash() -> None:
    """AXI SRAM of the H7 gets nothing by itself; OCRAM beside serial flash does."""
    graph = graph_of(1, (Case(1, 512, 512), Case(1, 512, 128)))
    h7 = made(graph, load_board("nucleo_h7a3zi_q"), AUTO)
    assert placed_bytes(h7, "axi_sram") == 0 < placed_bytes(h7)
    teensy = made(graph, load_board("teensy41"), AUTO)
    assert placed_bytes(teensy, "ocram") > 0
    everything = made(graph, load_board("nucleo_h7a3zi_q"), SRAM)
    assert placed_bytes(everything, "axi_sram") > 0
    assert placed_bytes(everything) == everything.program.constant_bytes


def test_where_little_is_gained_nothing_is_placed() -> None:
    """Weights that the data cache holds are waited for once, in a long computation."""
    graph = graph_of(1, (Case(60, 8, 4, kernel=3, pad=1),))
    found = made(graph, load_board("nucleo_u575zi_q"), AUTO)
    assert not found.residence.constants
