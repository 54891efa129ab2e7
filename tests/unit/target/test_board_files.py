"""The board files that ship with edgec: complete, consistent, usable by the compiler."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import pytest

from edgec.base.resources import data_dir
from edgec.target.board import Board, list_boards, load_board
from edgec.target.cores import Core, Fpu

BOARDS = list_boards()
LINUX_FACTS = {  # name: core, MHz, MB of RAM
    "raspberry_pi_2": (Core.CORTEX_A7, 900, 1024),
    "raspberry_pi_3": (Core.CORTEX_A53, 1200, 1024),
    "raspberry_pi_4": (Core.CORTEX_A72, 1500, 1024),
    "raspberry_pi_5": (Core.CORTEX_A76, 2400, 1024),
    "raspberry_pi_zero_2": (Core.CORTEX_A53, 1000, 512),
    "beaglebone_black": (Core.CORTEX_A8, 1000, 512),
}
FACTS = {  # name: core, MHz, flash KB, KB of the region that holds the arena
    "nucleo_f446re": (Core.CORTEX_M4, 180, 512, 128),
    "nucleo_l4r5zi": (Core.CORTEX_M4, 120, 2048, 640),
    "nucleo_f207zg": (Core.CORTEX_M3, 120, 1024, 128),
    "nucleo_f103rb": (Core.CORTEX_M3, 72, 128, 20),
    "nucleo_h7a3zi_q": (Core.CORTEX_M7, 280, 2048, 1024),
    "nucleo_u575zi_q": (Core.CORTEX_M33, 160, 2048, 768),
    "nucleo_u385rg_q": (Core.CORTEX_M33, 96, 1024, 256),
    "nucleo_g0b1re": (Core.CORTEX_M0PLUS, 64, 512, 144),
    "disco_f407vg": (Core.CORTEX_M4, 168, 1024, 128),
    "netduinoplus2": (Core.CORTEX_M4, 168, 1024, 128),
    "nucleo_f767zi": (Core.CORTEX_M7, 216, 2048, 384),
    "nucleo_h743zi2": (Core.CORTEX_M7, 400, 2048, 512),
    "nucleo_wb55rg": (Core.CORTEX_M4, 64, 876, 192),
    "arduino_nano33ble": (Core.CORTEX_M4, 64, 960, 256),
    "teensy41": (Core.CORTEX_M7, 600, 7936, 512),
    "rpi_pico2": (Core.CORTEX_M33, 150, 4096, 520),
    "rpi_pico": (Core.CORTEX_M0PLUS, 125, 2048, 264),
    "microbit": (Core.CORTEX_M0, 16, 256, 16),
}


def keys_of(data: Any, prefix: str = "") -> set[str]:
    """Every dotted key of JSON data; list elements share their list's key."""
    if isinstance(data, list):
        return set().union(*(keys_of(item, prefix) for item in data), {prefix})
    if not isinstance(data, dict):
        return {prefix}
    inner = (keys_of(value, f"{prefix}.{key}".lstrip(".")) for key, value in data.items())
    return set().union(*inner, {prefix})


def test_facts_are_stated_twice_for_all_boards_of_silicon() -> None:
    """The tables above, written from the documents apart from the board files, name them all."""
    silicon = {board.name for board in BOARDS if board.linux is not None or board.upload.tools}
    assert silicon == FACTS.keys() | LINUX_FACTS.keys()


@pytest.mark.parametrize("name", FACTS)
def test_facts(name: str) -> None:
    board = load_board(name)
    assert board.memory is not None
    core, megahertz, flash_kb, ram_kb = FACTS[name]
    assert board.core is core
    assert board.clock_hz == megahertz * 1_000_000
    assert board.flash_bytes == flash_kb * 1024
    assert board.memory.region(board.memory.arena_in).size_bytes == ram_kb * 1024


@pytest.mark.parametrize("name", LINUX_FACTS)
def test_facts_of_boards_with_linux(name: str) -> None:
    board = load_board(name)
    core, megahertz, ram_mb = LINUX_FACTS[name]
    assert board.core is core
    assert core.is_cortex_a and core.has_neon
    assert board.clock_hz == megahertz * 1_000_000
    assert board.ram_bytes == board.arena_limit_bytes == ram_mb << 20
    assert (board.flash_bytes, board.memory, board.console) == (None, None, None)
    assert board.is_hosted and not board.is_host
    assert board.emulator.kind == "qemu-user"


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_file_is_named_after_board_and_has_port(board: Board) -> None:
    assert (data_dir("boards") / f"{board.name}.toml").is_file()
    assert list((data_dir("firmware") / "port" / board.port).glob("*.c"))


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_sources_name_keys_of_the_file(board: Board) -> None:
    known = keys_of(board.to_json())
    named = {key for source in board.sources for key in source.keys}
    assert named <= known
    if not board.is_host:
        assert any(key.startswith(("memory", "linux")) for key in named)
        assert "clock_hz" in named


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_json_round_trip_is_plain_data(board: Board) -> None:
    data = board.to_json()
    assert data["name"] == board.name
    assert data["core"] == board.core.value


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_compiler_accepts_the_flags(board: Board) -> None:
    compiler = shutil.which(f"{board.core.gcc_prefix}gcc")
    if compiler is None:
        pytest.skip("the compiler is not installed")
    argv = [compiler, *board.gcc_flags, "-dM", "-E", "-x", "c", "/dev/null"]
    macros = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    if board.is_host:
        return
    assert ("__ARM_FEATURE_DSP 1" in macros) == board.dsp
    assert ("__ARM_FP " in macros) == (board.fpu is not Fpu.NONE)
    assert ("__ARM_ARCH_6M__" in macros) == board.core.is_armv6m
    assert ("__ARM_NEON " in macros) == board.core.has_neon
    assert ("__aarch64__" in macros) == board.core.is_aarch64


def test_budget_of_host_is_unlimited_and_of_boards_is_not() -> None:
    host = load_board("host")
    assert (host.flash_bytes, host.ram_bytes, host.arena_limit_bytes) == (None, None, None)
    h7 = load_board("nucleo_h7a3zi_q")
    assert h7.ram_bytes == (128 + 1024) * 1024
    assert h7.arena_limit_bytes == 1024 * 1024  # the stack is elsewhere
    f4 = load_board("nucleo")
    assert f4.arena_limit_bytes == 128 * 1024 - 4096
