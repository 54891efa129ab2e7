"""A compiled graph on an emulated core, compared with the oracle step by step."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from parity import Sample

from edgec.base.dtypes import Array
from edgec.codegen.cnames import library_names
from edgec.codegen.project import FirmwareModel, emit_project
from edgec.lower import Program
from edgec.sim.compare import compare_crcs, compare_outputs
from edgec.sim.emulator import EmulatedFirmware
from edgec.target.board import load_board
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
    with emulated(name, library, program, folder) as firmware:
        for sample in samples:
            run = firmware.run(sample.inputs, trace=True)
            compare_crcs(program, sample.oracle, run.steps, name)
            compare_outputs(program, sample.oracle, run.outputs, name)


def check_emulated_lengths(
    name: str,
    library: Path,
    program: Program,
    runs: Mapping[int, Sequence[tuple[list[Array], dict[str, Array]]]],
    folder: Path,
) -> None:
    """The same for runs of several lengths: inputs and the oracle's tensors, by length."""
    with emulated(name, library, program, folder) as firmware:
        for length, samples in runs.items():
            firmware.client.set_length(length)
            shorter, where = program.at(length), f"{name}, length {length}"
            for inputs, oracle in samples:
                run = firmware.run(inputs, trace=True)
                compare_crcs(shorter, oracle, run.steps, where)
                compare_outputs(shorter, oracle, run.outputs, where)


def emulated(name: str, library: Path, program: Program, folder: Path) -> EmulatedFirmware:
    """Firmware of a board, built around a library."""
    return emulated_models(name, [(library, program)], folder)


def emulated_models(
    name: str, models: Sequence[tuple[Path, Program]], folder: Path
) -> EmulatedFirmware:
    """Firmware of a board that serves several models, built around their libraries."""
    board = load_board(name)
    found = []
    for library, program in models:
        names = library_names(program.name)
        found.append(
            FirmwareModel(
                library,
                names.name,
                names.header,
                names.symbol,
                program.arena_bytes,
                len(program.inputs),
                state_bytes=program.state_bytes,
            )
        )
    emit_project(found, board, folder)
    return EmulatedFirmware(build(folder, board).elf, board)
