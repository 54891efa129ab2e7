"""The real firmware on every emulated board, driven through its protocol."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from toy_firmware import TOYS, build_toy_firmware, toy_board, toy_input, toy_steps

from edgec.base.errors import ConfigError, InternalError, SimulationError
from edgec.sim.emulator import EmulatedFirmware
from edgec.target.board import list_boards, load_board

QEMU_BOARDS = tuple(board.name for board in list_boards() if board.emulator.kind == "qemu")
UNICORN_BOARDS = tuple(board.name for board in list_boards() if board.emulator.kind == "unicorn")
ALL_BOARDS = (*QEMU_BOARDS, *UNICORN_BOARDS)
NO_CLOCK_MODEL = {"netduinoplus2": 16_000_000}
"""Reset clocks of boards whose machine in QEMU has no RCC: the start-up code gives up waiting."""
ONE_OF_EACH = ("mps2_an386", "nucleo_f446re")

Build = Callable[[str], Path]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Firmware with all toy models for a board, built once."""
    built: dict[str, Path] = {}

    def get(name: str) -> Path:
        if name not in built:
            board = toy_board(name)
            built[name] = build_toy_firmware(tmp_path_factory.mktemp(name), board)
        return built[name]

    return get


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("name", ALL_BOARDS)
def test_every_board_runs_the_firmware(build: Build, name: str) -> None:
    board = toy_board(name)
    x = toy_input()
    with EmulatedFirmware(build(name), board) as firmware:
        info = firmware.info()
        assert (info.board, info.model, info.models) == (name, "toy", len(TOYS))
        # The start-up code found every clock ready, or runs on where it did not.
        assert info.clock_hz == NO_CLOCK_MODEL.get(name, board.clock_hz)
        assert 0 < info.stack_bytes < 1024
        run = firmware.run([x])
        assert np.array_equal(run.outputs[0], toy_steps(x)[-1])
        assert run.cycles is None
        traced = firmware.run([x], trace=True)
        expected = [zlib.crc32(y.tobytes()) for y in toy_steps(x)]
        assert [step.crc for step in traced.steps] == expected
        firmware.client.select(1)
        pair = firmware.run([np.arange(8, dtype=np.int8), np.full(4, -128, np.int8)])
        assert [output.tolist() for output in pair.outputs] == [[*range(7, -1, -1)], [28 - 512]]
        assert len(firmware.client.bench([np.zeros(8, np.int8), np.zeros(4, np.int8)]).steps) == 2


def test_the_clock_that_qemu_lacks_is_reached_in_the_other_emulator(build: Build) -> None:
    board = toy_board("netduinoplus2")
    other = replace(board, emulator=replace(board.emulator, kind="unicorn"))
    with EmulatedFirmware(build(board.name), other) as firmware:
        assert firmware.info().clock_hz == board.clock_hz == 168_000_000


@pytest.mark.few_cases(2)
@pytest.mark.parametrize("name", ALL_BOARDS)
def test_a_fault_names_the_function(build: Build, name: str) -> None:
    with EmulatedFirmware(build(name), toy_board(name)) as firmware:
        firmware.client.select(2)
        with pytest.raises(SimulationError, match=r"at 0x[0-9a-f]{8} \(crash_run\+0x"):
            firmware.run([])


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_an_endless_run_times_out(build: Build, name: str) -> None:
    began = time.monotonic()
    with EmulatedFirmware(build(name), toy_board(name), run_timeout_s=0.5) as firmware:
        firmware.client.select(6)
        with pytest.raises(SimulationError, match="no answer in time"):
            firmware.run([])
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_runs_repeat_exactly(build: Build, name: str) -> None:
    x = toy_input(5)
    with EmulatedFirmware(build(name), toy_board(name)) as firmware:
        first = firmware.run([x], trace=True)
        second = firmware.run([x], trace=True)
    assert first.steps == second.steps


def test_host_board_runs_as_a_program(build: Build) -> None:
    x = toy_input()
    with EmulatedFirmware(build("host"), load_board("host")) as firmware:
        assert np.array_equal(firmware.run([x]).outputs[0], toy_steps(x)[-1])


def test_not_usable_outside_its_block(build: Build) -> None:
    firmware = EmulatedFirmware(build("nucleo_f446re"), toy_board("nucleo_f446re"))
    with pytest.raises(InternalError):
        firmware.info()
    with firmware:
        firmware.info()
    with pytest.raises(InternalError):
        firmware.info()


def test_qemu_ends_with_the_block(build: Build) -> None:
    board = toy_board("mps2_an386")
    before = _children()  # other tests may have left one, as multiprocessing's tracker
    with EmulatedFirmware(build("mps2_an386"), board):
        assert len(_children()) > len(before)
    assert _children() == before


def _children() -> list[str]:
    """Process ids of this process's children."""
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


# ---- files that are no firmware for the board


def _refusal(elf: Path, name: str) -> str:
    with (
        pytest.raises(SimulationError) as caught,
        EmulatedFirmware(elf, load_board(name)),
    ):
        pass
    return str(caught.value)


@pytest.mark.parametrize("name", [*ONE_OF_EACH, "host"])
def test_missing_file(tmp_path: Path, name: str) -> None:
    message = _refusal(tmp_path / "firmware.elf", name)
    assert "firmware.elf" in message


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_folder(tmp_path: Path, name: str) -> None:
    assert "cannot read the firmware" in _refusal(tmp_path, name)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x7fELF", b"\x7fELF" + b"\xff" * 100])
def test_not_an_elf(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.elf"
    path.write_bytes(content)
    assert "not a firmware ELF" in _refusal(path, "nucleo_f446re")


def test_program_for_this_computer() -> None:
    assert "not for a 32-bit Arm core" in _refusal(Path(sys.executable), "nucleo_f446re")


@pytest.mark.parametrize(
    ("built_for", "run_on", "message"),
    [
        ("mps2_an386", "microbit", "is for Armv7E-M, which the cortex-m0 cannot run"),
        ("nucleo_f446re", "nucleo_f103rb", "is for Armv7E-M, which the cortex-m3 cannot run"),
        ("mps2_an386", "nucleo_f446re", "where the board has no memory"),
        ("nucleo_f446re", "mps2_an386", "where the board has no memory"),
    ],
)
def test_firmware_of_another_board(build: Build, built_for: str, run_on: str, message: str) -> None:
    assert message in _refusal(build(built_for), run_on)


def test_damaged_elf(build: Build, tmp_path: Path) -> None:
    """Whatever a damaged file does, it ends in one error or runs like the good one."""
    good = build("nucleo_f446re").read_bytes()
    random = np.random.default_rng(1)
    path = tmp_path / "damaged.elf"
    board = toy_board("nucleo_f446re")
    for trial in range(60):
        data = bytearray(good)
        if trial % 3 == 0:
            del data[int(random.integers(len(data))) :]
        else:
            reach = 100 if trial % 3 == 1 else len(data)
            for _ in range(8):
                data[int(random.integers(reach))] = int(random.integers(256))
        path.write_bytes(bytes(data))
        try:
            with EmulatedFirmware(path, board, run_timeout_s=1.0) as firmware:
                firmware.info()
        except SimulationError as error:
            assert str(error)


# ---- emulators that are not there


def test_unicorn_missing(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    elf = build("nucleo_f446re")
    monkeypatch.delitem(sys.modules, "edgec.sim.unicorn_machine", raising=False)
    monkeypatch.setitem(sys.modules, "unicorn", None)
    with (
        pytest.raises(ConfigError, match="pip install unicorn capstone"),
        EmulatedFirmware(elf, load_board("nucleo_f446re")),
    ):
        pass


def test_qemu_missing(build: Build, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    elf = build("mps2_an386")
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(ConfigError, match="apt-get install qemu-system-arm"),
        EmulatedFirmware(elf, load_board("mps2_an386")),
    ):
        pass


def test_board_without_emulator(build: Build) -> None:
    board = load_board("nucleo_f446re")
    bare = replace(board, emulator=replace(board.emulator, kind="none"))
    with (
        pytest.raises(SimulationError, match="no emulator can run"),
        EmulatedFirmware(build("nucleo_f446re"), bare),
    ):
        pass


def test_board_without_peripheral_models(build: Build) -> None:
    board = toy_board("nucleo_f446re")
    unknown = replace(board, port="stm32x9")
    with (
        pytest.raises(SimulationError, match="no peripheral models for the port 'stm32x9'"),
        EmulatedFirmware(build("nucleo_f446re"), unknown),
    ):
        pass
    assert board.console is not None
    other_uart = replace(board, console=replace(board.console, uart="UART99"))
    with (
        pytest.raises(SimulationError, match="no model of UART99"),
        EmulatedFirmware(build("nucleo_f446re"), other_uart),
    ):
        pass


@pytest.mark.skipif(shutil.which("arm-none-eabi-gcc") is None, reason="no arm-none-eabi-gcc")
@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("*(volatile int *)0x08000000 = 1;", "write of 4 bytes at 0x08000000, which is flash"),
        ("*(volatile char *)0x60000000 = 1;", "write of 1 bytes at 0x60000000, where nothing is"),
        ("((void (*)(void))0x30000001)();", "instruction fetch of 2 bytes at 0x30000000"),
        ('__asm volatile("udf #0");', "an undefined instruction"),
        ('__asm volatile("bkpt #0");', "a BKPT instruction"),
        ('__asm volatile("svc #0");', "an SVC instruction"),
        ("*(volatile int *)0xE000ED0C = 0x05FA0004;", "the firmware reset itself"),
        ('__asm volatile("cpsid i\\n\\twfi");', "the firmware halted"),
    ],
)
def test_what_unicorn_reports(tmp_path: Path, body: str, message: str) -> None:
    """Firmware that consists of one bad deed."""
    board = toy_board("nucleo_f446re")
    source = tmp_path / "bad.c"
    source.write_text(
        "void culprit(void);\n"
        f"void culprit(void) {{ {body} for (;;) {{}} }}\n"
        '__attribute__((section(".isr_vector"), used))\n'
        "static void *const vectors[] = {(void *)0x20001000, (void *)culprit};\n"
    )
    script = tmp_path / "bad.ld"
    script.write_text(
        "SECTIONS { . = 0x08000000; .text : { KEEP(*(.isr_vector)) *(.text*) *(.rodata*) } }\n"
    )
    elf = tmp_path / "bad.elf"
    command = ["arm-none-eabi-gcc", *board.gcc_flags, "-Os", "-g", "-nostdlib", "-nostartfiles"]
    command += [f"-T{script}", "-Wl,--entry=culprit", str(source), "-o", str(elf)]
    subprocess.run(command, check=True, capture_output=True)
    refusal = _refusal(elf, board.name)
    assert message in refusal
    if "fetch" not in message:
        assert "culprit" in refusal
