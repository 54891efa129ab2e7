"""The port on QEMU's machines: start-up, cycle counter, memory functions, fault reports."""

from __future__ import annotations

from pathlib import Path

import pytest
from port_probe import build_probe, run_probe

from edgec.target.board import load_board

QEMU_BOARDS = ("mps2_an385", "mps2_an386", "mps2_an500", "mps2_an505", "microbit")


@pytest.fixture(scope="module", params=QEMU_BOARDS)
def probe_elf(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    name = request.param
    return name, build_probe(tmp_path_factory.mktemp(name), name)


def test_start_prepares_memory_counter_and_stack(probe_elf: tuple[str, Path]) -> None:
    name, elf = probe_elf
    board = load_board(name)
    assert board.memory is not None
    with run_probe(elf, name) as probe:
        answer = probe.ask("d")
        assert answer.startswith("data ok\n")
        arena = board.memory.region(board.memory.arena_in)
        assert arena.origin <= int(answer.split()[2], 16) < arena.end
        assert int(probe.ask("m").split()[0], 16) == 0
        first, backwards, hertz, _ = probe.ask("c").split()
        assert (first, int(backwards, 16), int(hertz, 16)) == ("counts", 0, board.clock_hz)
        used = int(probe.ask("s").split()[0], 16)
        assert 5 * 128 <= used <= 5 * 128 + 600
        probe.ask("r", "probe\n")  # a reset starts it again


def faulting(elf: Path, name: str, letter: str) -> str:
    with run_probe(elf, name) as probe:
        return probe.ask(letter, "halted")


def test_undefined_instruction_is_reported(probe_elf: tuple[str, Path]) -> None:
    name, elf = probe_elf
    text = faulting(elf, name, "u")
    assert "fault: HardFault" in text
    assert " lr=" in text
    flash = load_board(name).memory.flash
    assert flash.origin <= int(text.split("pc=")[1][:8], 16) < flash.end
    if name != "microbit":  # Armv6-M does not tell causes
        assert "undefined instruction" in text
        assert "cfsr=00010000 hfsr=40000000" in text


def test_access_to_nowhere_is_reported(probe_elf: tuple[str, Path]) -> None:
    name, elf = probe_elf
    text = faulting(elf, name, "b")
    assert "fault: HardFault" in text
    if name != "microbit":
        assert "access to nowhere" in text
        assert "bfar=90000000" in text


def test_division_by_zero_is_reported(probe_elf: tuple[str, Path]) -> None:
    name, elf = probe_elf
    if name != "microbit":  # Armv6-M has no divide instruction that could trap
        assert "division by zero" in faulting(elf, name, "z")


def test_stack_overflow_is_caught_by_the_stack_limit(tmp_path: Path) -> None:
    elf = build_probe(tmp_path, "mps2_an505")
    assert "stack overflow" in faulting(elf, "mps2_an505", "o")
