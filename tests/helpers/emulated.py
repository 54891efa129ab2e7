"""A compiled graph on an emulated core, compared with the oracle step by step."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from parity import Sample

from edgec.board import load_board
from edgec.codegen.cnames import library_names
from edgec.codegen.project import FirmwareModel, emit_project
from edgec.lower import Program
from edgec.sim.compare import compare_crcs, compare_outputs
from edgec.sim.emulator import EmulatedFirmware
from edgec.toolchain import process
from edgec.toolchain.platformio import build

BOARDS = {
    "mps2_an385": "qemu-system-arm",  # Cortex-M3
    "nucleo_g0b1re": "",  # Cortex-M0+: no long multiply, no unaligned access
    "nucleo_u575zi_q": "",  # Cortex-M33: DSP instructions
}
"""Boards to emulate, and the program that does it ("": the unicorn package)."""


def need_emulator(name: str) -> None:
    """Skip where a tool for a board is missing, one of `BOARDS` or another of unicorn's."""
    if process.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    emulator = BOARDS.get(name, "")
    if emulator and process.which(emulator) is None:
        pytest.skip(f"{emulator} is not installed")
    if not emulator:
        pytest.importorskip("unicorn")


def check_emulated(
    name: str, library: Path, program: Program, samples: Sequence[Sample], folder: Path
) -> None:
    """Every step's CRC and all outputs of a library on a board equal the oracle's."""
    board = load_board(name)
    names = library_names(program.name)
    model = FirmwareModel(library, names.name, names.header, names.symbol, program.arena_bytes)
    emit_project([model], board, folder)
    with EmulatedFirmware(build(folder, board).elf, board) as firmware:
        for sample in samples:
            run = firmware.run(sample.inputs, trace=True)
            compare_crcs(program, sample.oracle, run.steps, name)
            compare_outputs(program, sample.oracle, run.outputs, name)
