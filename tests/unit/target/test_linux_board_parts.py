"""Parts of boards with Linux that need no compiler: board files, cores, kinds of instructions."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from edgec.base.errors import ConfigError, MemoryPlanError, SimulationError
from edgec.sim.native import NativeModel, NativeTensor, layout
from edgec.target.board import Board, load_board
from edgec.target.cores import Core, Fpu
from edgec.timing.types import CodeKind
from edgec.workflow.fits import Demand, check_fits

GOOD = """
name = "my_board"
title = "My board"
vendor = "me"
mcu = "BCM2837"
core = "cortex-a53"
fpu = "double"
clock_hz = 1_000_000_000
port = "host"
sources = []
[linux]
ram_bytes = 65_536
[emulator]
kind = "qemu-user"
cpu = "cortex-a53"
"""
MEMORY = """[memory]
data_in = "ram"
arena_in = "ram"
[memory.flash]
origin = 0
size_bytes = 65_536
[[memory.ram]]
name = "ram"
origin = 0x2000_0000
size_bytes = 65_536
"""


def loaded(folder: Path, text: str) -> Board:
    path = folder / "my_board.toml"
    path.write_text(text)
    return load_board(path)


def test_a_dozen_lines_are_a_board(tmp_path: Path) -> None:
    board = loaded(tmp_path, GOOD)
    assert (board.is_hosted, board.is_host) == (True, False)
    assert (board.ram_bytes, board.arena_limit_bytes, board.flash_bytes) == (65_536, 65_536, None)
    check_fits(Demand(65_536, 1 << 40, [], []), board)
    with pytest.raises(MemoryPlanError, match="RAM is short of 1 bytes"):
        check_fits(Demand(65_537, 0, [], []), board)


BAD = [
    ("[linux]\nram_bytes = 65_536\n", "", r"\[linux\]"),
    ('"cortex-a53"', '"cortex-m4"', r"\[linux\]"),
    ('core = "cortex-a53"', 'core = "host"', r"\[linux\]"),
    ("[emulator]", f"{MEMORY}[emulator]", "has a memory map, other boards have none"),
    ("[emulator]", '[console]\nuart = "U"\npins = "P"\n[emulator]', "has a console"),
    ('cpu = "cortex-a53"\n', "", "qemu-user needs emulator.cpu"),
    ('kind = "qemu-user"', 'kind = "unicorn"', "qemu-user runs the programs"),
    ('fpu = "double"', 'fpu = "single"', "cortex-a53 cannot have the FPU 'single'"),
    ("clock_hz", "dsp = true\nclock_hz", "cortex-a53 cannot have dsp = true"),
    ("1_000_000_000", "0", "clock_hz must be positive"),
    ("ram_bytes = 65_536", "ram_bytes = 0", "linux.ram_bytes"),
    ("ram_bytes = 65_536", "ram_bytes = 65_536\nswap = 1", "linux.swap: unknown key"),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD)
def test_bad_files_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(ConfigError, match=message):
        loaded(tmp_path, GOOD.replace(old, new, 1))


def test_no_emulator_is_allowed(tmp_path: Path) -> None:
    emulator = GOOD[GOOD.index("[emulator]") :]
    assert loaded(tmp_path, GOOD.replace(emulator, "")).emulator.kind == "none"


def test_cores_know_their_kind() -> None:
    for core in Core:
        is_a = core.value.startswith("cortex-a")
        assert core.is_cortex_a == core.has_neon == is_a
        assert core.is_aarch64 == (core in (Core.CORTEX_A53, Core.CORTEX_A72, Core.CORTEX_A76))
        assert ("linux" in core.gcc_prefix) == is_a
    assert Core.HOST.gcc_prefix == ""
    assert Core.CORTEX_M4.gcc_prefix == "arm-none-eabi-"
    assert Core.CORTEX_A53.gcc_flags(Fpu.DOUBLE, dsp=False) == ("-mcpu=cortex-a53",)
    assert "-mfpu=neon" in Core.CORTEX_A8.gcc_flags(Fpu.DOUBLE, dsp=True)


def test_layout_is_that_of_the_compiler() -> None:
    native = layout(NativeModel, ctypes.sizeof(ctypes.c_void_p))
    assert native == {name: getattr(NativeModel, name).offset for name in native}
    layouts = layout(NativeModel, 4)
    assert [*layouts.values()] == [4 * index for index in range(len(layouts))]
    assert all(ctypes.sizeof(kind) == 4 for _, kind in NativeTensor._fields_)


@pytest.mark.parametrize(
    ("kind", "code", "wanted"),
    [
        (CodeKind.A64, "0000c03d 1f2003d5 c0035fd6", (3, 1, 1, 0)),  # ldr q0; nop; ret
        (CodeKind.A64, "20c0214e 00008052 200000b9", (3, 1, 0, 1)),  # smull2 v0; mov; str w0
        (CodeKind.T32, "10b5 0068 61ef0021 10bd", (4, 1, 2, 1)),  # push; ldr; vrhadd d18; pop
        (CodeKind.A32, "00f020e3 0d0a20f4 1eff2fe1", (3, 1, 1, 0)),  # nop; vld1.8; bx lr
    ],
)
def test_kinds_of_instructions(kind: CodeKind, code: str, wanted: tuple[int, ...]) -> None:
    pytest.importorskip("capstone")
    from edgec.timing.decode_linux import count_kinds

    found = count_kinds(bytes.fromhex(code), 0x1000, kind)
    assert (found.instructions, found.simd, found.loads, found.stores) == wanted


def test_bytes_that_are_no_instruction_are_an_error() -> None:
    pytest.importorskip("capstone")
    from edgec.timing.decode_linux import count_kinds

    with pytest.raises(SimulationError, match="not an instruction of A64: ff ff ff ff"):
        count_kinds(bytes.fromhex("1f2003d5 ffffffff"), 0x1000, CodeKind.A64)
