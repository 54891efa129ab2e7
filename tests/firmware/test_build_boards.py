"""Every board builds the real firmware program, in its memory map, with the whole warning set."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from port_probe import emit_probe
from toy_firmware import build_toy_firmware

from edgec.base.resources import data_dir
from edgec.target.board import Board, list_boards, load_board
from edgec.toolchain.cc import WARNING_FLAGS
from edgec.toolchain.size import firmware_size
from edgec.workflow.rows import CONSOLE_VARIABLE_BYTES

BOARDS = [board for board in list_boards() if not board.is_hosted]


@pytest.mark.few_cases(3)
@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_firmware_links_in_the_boards_memory(tmp_path: Path, board: Board) -> None:
    elf = build_toy_firmware(tmp_path, board, ("toy",))
    size = firmware_size(elf)
    assert board.memory is not None
    flash = board.memory.flash
    assert size.code_bytes - flash.boot_bytes < 12 * 1024
    assert size.arena_bytes == 2048
    assert size.stack_bytes == board.memory.stack_bytes
    assert size.ram_bytes - size.stack_bytes - size.arena_bytes <= CONSOLE_VARIABLE_BYTES
    assert size.ram_bytes < (board.ram_bytes or 0)
    image = tmp_path / "firmware.bin"
    subprocess.run(["arm-none-eabi-objcopy", "-Obinary", elf, image], check=True)
    stack, reset = struct.unpack_from("<II", image.read_bytes(), flash.boot_bytes)
    assert stack == board.memory.region(board.memory.data_in).origin + board.memory.stack_bytes
    assert flash.origin < reset < flash.end
    assert reset & 1  # Thumb


@pytest.mark.few_cases(4)
@pytest.mark.parametrize("board", list_boards(), ids=lambda board: board.name)
def test_port_compiles_cleanly_with_clang(tmp_path: Path, board: Board) -> None:
    """The other compiler: building with gcc and every warning is the test above."""
    clang = shutil.which("clang")
    if clang is None:
        pytest.skip("clang is not installed")
    project = emit_probe(tmp_path, board)
    sources = list((project / "src" / "port").rglob("*.c"))
    prefix = board.core.gcc_prefix
    if board.linux is not None and shutil.which(f"{prefix}gcc") is None:
        pytest.skip(f"the C library of {prefix}gcc is not installed")
    target = [f"--target={prefix.rstrip('-')}", *board.gcc_flags] if prefix else []
    folders = ["include", "src/port/common", "src/port/drivers"]
    argv = [clang, *target, "-std=c11", *WARNING_FLAGS, "-fsyntax-only"]
    argv += [f"-I{project / folder}" for folder in folders]
    done = subprocess.run([*argv, *sources], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def crc_of_boot_rom(data: bytes) -> int:
    """The boot ROM's CRC-32, bit by bit (RP2040 datasheet 2.8.1.3.1)."""
    crc = 0xFFFF_FFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1) ^ (0x04C1_1DB7 if crc & 0x8000_0000 else 0)
            crc &= 0xFFFF_FFFF
    return crc


def test_boot_loader_image_is_the_assembled_source(tmp_path: Path) -> None:
    if shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    folder = data_dir("firmware") / "port" / "rp2040"
    outputs = []
    for source, section in (("boot2.S", ".text"), ("boot2_image.c", ".boot")):
        target = tmp_path / source
        subprocess.run(
            ["arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-c", folder / source, "-o", target],
            check=True,
        )
        image = target.with_suffix(".bin")
        subprocess.run(
            ["arm-none-eabi-objcopy", "-Obinary", "-j", section, target, image], check=True
        )
        outputs.append(image.read_bytes())
    code = outputs[0].ljust(252, b"\0")
    assert len(code) == 252
    assert outputs[1] == code + crc_of_boot_rom(code).to_bytes(4, "little")


def test_crc_of_boot_rom_is_the_published_one() -> None:
    assert crc_of_boot_rom(b"123456789") == 0x0376_E6E7  # CRC-32/MPEG-2, Rocksoft catalogue


def test_own_board_file_builds(tmp_path: Path) -> None:
    text = (data_dir("boards") / "nucleo_f446re.toml").read_text()
    own = text.replace('name = "nucleo_f446re"', 'name = "mine"').replace('["nucleo"]', "[]")
    (tmp_path / "mine.toml").write_text(own.replace("131_072", "65_536"))
    board = load_board(tmp_path / "mine.toml")
    assert firmware_size(build_toy_firmware(tmp_path / "x", board, ("toy",))).arena_bytes == 2048
