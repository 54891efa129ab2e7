"""The flash model on short sequences, each counted by hand."""

from __future__ import annotations

import pytest

from edgec.base.errors import InternalError
from edgec.target.board import list_boards, load_board
from edgec.timing.memory import (
    NO_LINE,
    Cache,
    MemorySimulator,
    count_instructions,
    flash_timing,
    instruction_offsets,
    line_shares,
    miss_cycles,
)
from edgec.timing.types import CacheShape, Edge, FlashTiming, MemoryMode

ORIGIN = 0x0800_0000
NOP = bytes.fromhex("00bf")
WIDE_NOP = bytes.fromhex("aff30080")


def timing(
    wait_states: int,
    line_bytes: int,
    *,
    prefetch: bool = False,
    instructions: CacheShape | None = None,
    data: CacheShape | None = None,
    unified: bool = False,
) -> FlashTiming:
    return FlashTiming(
        ORIGIN, 65536, wait_states, line_bytes, prefetch, instructions, data, unified
    )


def fetches(memory: MemorySimulator, *visits: tuple[int, int]) -> list[int]:
    """Stalls of visits (line, cycles spent there), one block each."""
    return [memory.fetch((visit,)) for visit in visits]


def test_prefetch_buffer_hides_what_the_line_before_takes() -> None:
    # STM32F1: 2 wait states, lines of 8 bytes, no cache.  A prefetch takes 3 cycles.
    memory = MemorySimulator(timing(2, 8, prefetch=True))
    stalls = fetches(
        memory,
        (0, 4),  # random: 2; line 1 is there before 4 cycles are over
        (1, 2),  # 0; line 2 takes 3, one more than line 1 runs
        (2, 1),  # 1
        (2, 1),  # the current line
        (3, 1),  # line 2 ran 2 cycles: 1
        (0, 3),  # jump back: 2, once the prefetch of line 4 is over, which has 2 more to go
        (1, 0),  # 0
        (2, 5),  # 3: no time was spent in line 1
    )
    assert stalls == [2, 0, 1, 0, 1, 4, 0, 3]


def test_without_prefetch_every_line_waits() -> None:
    memory = MemorySimulator(timing(2, 8))
    assert fetches(memory, (0, 9), (1, 9), (1, 9), (0, 9)) == [2, 2, 0, 2]


def test_a_loop_that_fits_the_cache_waits_once() -> None:
    # STM32F4: 5 wait states, lines of 16 bytes; two cache lines instead of 64.
    memory = MemorySimulator(timing(5, 16, prefetch=True, instructions=CacheShape(32, 16, 2, 16)))
    first = fetches(memory, (0, 4), (1, 4))
    assert first == [5, 2]  # random, then a prefetch of 6 cycles behind a line of 4
    # The prefetch of line 2 goes on, but nothing needs it.
    assert fetches(memory, (0, 4), (1, 4), (0, 4), (1, 4)) == [0, 0, 0, 0]


def test_the_least_recently_used_line_goes_first() -> None:
    memory = MemorySimulator(timing(5, 16, instructions=CacheShape(32, 16, 2, 16)))
    assert fetches(memory, (0, 1), (1, 1), (0, 1), (2, 1)) == [5, 5, 0, 5]  # 2 replaces 1
    assert fetches(memory, (0, 1), (1, 1), (2, 1)) == [0, 5, 5]  # 1 replaces 2, 2 replaces 0


def test_a_loop_larger_than_the_cache_gains_nothing_from_it() -> None:
    memory = MemorySimulator(timing(5, 16, instructions=CacheShape(32, 16, 2, 16)))
    loop = ((0, 1), (1, 1), (2, 1))
    assert fetches(memory, *loop, *loop) == [5] * 6


def test_prefetch_skips_cached_lines() -> None:
    memory = MemorySimulator(timing(5, 16, prefetch=True, instructions=CacheShape(64, 16, 4, 16)))
    assert fetches(memory, (0, 2), (1, 9)) == [5, 4]  # line 2 is being prefetched
    assert fetches(memory, (0, 9)) == [0]  # line 1 is cached: the prefetch of 2 stays
    assert fetches(memory, (2, 9)) == [0]


def test_a_line_that_is_prefetched_in_time_is_not_kept() -> None:
    memory = MemorySimulator(timing(5, 16, prefetch=True, instructions=CacheShape(64, 16, 4, 16)))
    assert fetches(memory, (0, 9), (1, 9)) == [5, 0]
    assert fetches(memory, (0, 9), (1, 9)) == [0, 0]  # prefetched again
    assert fetches(memory, (9, 9), (1, 9)) == [5, 5]


def test_one_cache_for_both_keeps_what_is_prefetched() -> None:
    shape = CacheShape(64, 16, 4, 16)
    flash = timing(5, 16, prefetch=True, instructions=shape, data=shape, unified=True)
    memory = MemorySimulator(flash)
    assert fetches(memory, (0, 9), (1, 9), (9, 9), (1, 9)) == [5, 0, 5, 0]


def test_parts_of_a_line_fill_one_by_one() -> None:
    # STM32L4+: cache lines of 4 x 8 bytes, a miss reads 8.
    cache = Cache(CacheShape(64, 32, 2, 8))
    assert [cache.access(offset) for offset in (0, 4, 8, 0, 31)] == [
        False,
        True,
        False,
        True,
        False,
    ]
    assert [cache.holds(offset) for offset in (0, 8, 16, 24, 32)] == [
        True,
        True,
        False,
        True,
        False,
    ]
    assert not cache.access(64)  # the second way
    assert not cache.access(128)  # replaces the line at 0 with all its parts
    assert [cache.holds(offset) for offset in (0, 8, 24, 64, 128)] == [False] * 3 + [True] * 2


def test_sets_do_not_share_lines() -> None:
    # 2 ways of 2 sets of 16 bytes: lines 0, 2, 4 compete, line 1 does not.
    cache = Cache(CacheShape(64, 16, 2, 16))
    lines = (0, 1, 2, 4, 1, 0)
    assert [cache.access(16 * line) for line in lines] == [False, False, False, False, True, False]


def test_a_line_of_two_reads_waits_for_both() -> None:
    # STM32H7A3: 6 wait states, flash words of 16 bytes, cache lines of 32: 7 + 7 cycles less one.
    shape = CacheShape(16384, 32, 4, 32)
    flash = timing(6, 16, instructions=shape, data=shape)
    assert miss_cycles(flash, shape) == 13
    memory = MemorySimulator(flash)
    assert fetches(memory, (0, 1), (1, 1), (2, 1)) == [13, 0, 13]
    assert [memory.read(offset, 4) for offset in (1024, 1040, 1056)] == [13, 0, 13]


def test_data_waits_on_every_read_without_a_cache() -> None:
    memory = MemorySimulator(timing(2, 8, prefetch=True))
    assert [memory.read(offset, 4) for offset in (0, 0, 4, 6)] == [2, 2, 2, 4]  # 6..10: two lines


def test_data_cache_holds_eight_lines() -> None:
    memory = MemorySimulator(timing(5, 16, data=CacheShape(128, 16, 8, 16)))
    assert [memory.read(16 * line, 1) for line in range(9)] == [5] * 9
    assert memory.read(16, 4) == 0
    assert memory.read(0, 4) == 5  # replaced by line 8


def test_data_reads_wait_for_a_prefetch_in_progress() -> None:
    memory = MemorySimulator(timing(5, 16, prefetch=True))
    assert fetches(memory, (0, 1)) == [5]
    # The prefetch of line 1 has 5 of 6 cycles to go, and the flash reads one line at a time.
    assert memory.read(4096, 4) == 10
    assert fetches(memory, (1, 1)) == [0]


def test_one_cache_for_both() -> None:
    shape = CacheShape(32, 16, 2, 16)
    memory = MemorySimulator(timing(4, 16, instructions=shape, data=shape, unified=True))
    assert memory.read(0, 4) == 4
    assert fetches(memory, (0, 1)) == [0]  # the read brought it
    assert [memory.read(16, 4), memory.read(32, 4)] == [4, 4]  # line 2 pushes line 0 out
    assert fetches(memory, (1, 1), (0, 1)) == [0, 4]


def test_cached_ram_takes_the_place_of_constants() -> None:
    shape = CacheShape(64, 16, 2, 16)  # 2 sets
    flash = FlashTiming(ORIGIN, 100, 5, 16, False, None, shape, cached_ram=(0x2400_0000, 4096))
    memory = MemorySimulator(flash)
    assert [memory.read(0, 4), memory.read(16, 4), memory.read(0, 4)] == [5, 5, 0]
    memory.touch(0, 4)  # the second way of set 0
    assert memory.read(0, 4) == 0
    memory.touch(28, 8)  # lines 1 and 2: a second way of set 1; set 0's oldest, the RAM's own
    assert [memory.read(0, 4), memory.read(16, 4)] == [0, 0]
    memory.touch(64, 1)
    memory.touch(96, 1)
    assert [memory.read(0, 4), memory.read(16, 4)] == [5, 0]


def test_code_elsewhere_takes_time_and_nothing_else() -> None:
    memory = MemorySimulator(timing(2, 8, prefetch=True))
    assert fetches(memory, (0, 1), (NO_LINE, 5), (0, 0), (1, 1)) == [2, 0, 0, 0]


def test_instruction_offsets() -> None:
    assert instruction_offsets(NOP + WIDE_NOP + NOP) == (0, 2, 6)
    assert instruction_offsets(b"") == ()
    assert count_instructions(ORIGIN, WIDE_NOP * 3) == 3


def test_shares_of_a_block() -> None:
    flash = timing(2, 8)
    # At offset 4: two instructions in line 0, the third straddles lines 0 and 1, one in line 1.
    code = NOP + WIDE_NOP + NOP
    assert line_shares(flash, ORIGIN + 4, code, count_instructions) == ((0, 2), (1, 1))
    assert line_shares(flash, ORIGIN + 4, code, lambda _, __: 10) == ((0, 6), (1, 4))
    straddling = NOP + WIDE_NOP
    assert line_shares(flash, ORIGIN + 4, straddling, count_instructions) == ((0, 2), (1, 0))
    assert line_shares(flash, 0x2000_0000, code, count_instructions) == ((NO_LINE, 3),)


def test_edges_know_whether_they_branch() -> None:
    assert Edge(8, 6, 14).falls_through
    assert not Edge(8, 6, 8).falls_through


@pytest.mark.parametrize(
    ("name", "instructions", "data", "cost"),
    [
        ("nucleo_f103rb", None, None, 2),
        ("nucleo_f207zg", (64, 1), (8, 1), 3),
        ("nucleo_f446re", (64, 1), (8, 1), 5),
        ("nucleo_l4r5zi", (32, 1), (8, 1), 5),
        ("nucleo_g0b1re", (2, 1), None, 2),
        ("nucleo_h7a3zi_q", (2, 256), (4, 128), 13),
        ("nucleo_u575zi_q", (2, 256), (2, 256), 4),
        ("rpi_pico", (2, 1024), (2, 1024), 513),
    ],
)
def test_boards_have_the_caches_of_their_manuals(
    name: str, instructions: tuple[int, int] | None, data: tuple[int, int] | None, cost: int
) -> None:
    """Ways and sets, and the wait for an instruction that nothing holds."""
    flash = flash_timing(load_board(name))

    def shape(cache: CacheShape | None) -> tuple[int, int] | None:
        return None if cache is None else (cache.ways, cache.sets)

    assert (shape(flash.instruction_cache), shape(flash.data_cache)) == (instructions, data)
    assert miss_cycles(flash, flash.instruction_cache) == cost
    assert flash.unified == (name in ("nucleo_u575zi_q", "rpi_pico"))


CACHED_RAM = {"nucleo_f767zi", "nucleo_h743zi2", "nucleo_h7a3zi_q", "teensy41"}


def test_only_m7s_cache_ram() -> None:
    cached = {b.name: flash_timing(b).cached_ram for b in list_boards() if not b.is_hosted}
    assert {name for name, ram in cached.items() if ram} == CACHED_RAM
    assert cached["nucleo_h7a3zi_q"] == (0x2400_0000, 1_048_576)
    assert cached["teensy41"] == (0x2020_0000, 524_288)


def test_modes_without_wait_states_have_none() -> None:
    for board in list_boards():
        if board.is_hosted:
            with pytest.raises(InternalError):
                flash_timing(board)
            continue
        for mode in (MemoryMode.SRAM, MemoryMode.IDEAL):
            assert flash_timing(board, mode).wait_states == 0
