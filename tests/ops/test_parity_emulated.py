"""Oracle = generated C on emulated 32-bit cores: every operator, every step's CRC, all outputs."""

from pathlib import Path

import pytest
from parity import compiled, samples_of
from random_graphs import all_operators, with_one_input

from edgec.board import load_board
from edgec.codegen.cnames import library_names
from edgec.codegen.project import FirmwareModel, emit_project
from edgec.sim.compare import compare_crcs, compare_outputs
from edgec.sim.emulator import EmulatedFirmware
from edgec.toolchain import process
from edgec.toolchain.platformio import build

BOARDS = {
    "mps2_an385": "qemu-system-arm",  # Cortex-M3
    "nucleo_g0b1re": "",  # Cortex-M0+: no long multiply, no unaligned access
    "nucleo_u575zi_q": "",  # Cortex-M33: DSP instructions
}


@pytest.mark.parametrize("name", BOARDS)
def test_every_operator_on_an_emulated_core(name: str, tmp_path: Path):
    if process.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    if BOARDS[name] and process.which(BOARDS[name]) is None:
        pytest.skip(f"{BOARDS[name]} is not installed")
    if not BOARDS[name]:
        pytest.importorskip("unicorn")
    board = load_board(name)
    graph = with_one_input(all_operators(seed=1, each=2))
    library = tmp_path / "library"
    program = compiled(graph, library)
    names = library_names(program.name)
    model = FirmwareModel(library, names.name, names.header, names.symbol, program.arena_bytes)
    emit_project([model], board, tmp_path / "project")
    elf = build(tmp_path / "project", board).elf
    with EmulatedFirmware(elf, board) as firmware:
        for sample in samples_of(graph)[2:5]:
            run = firmware.run(sample.inputs, trace=True)
            compare_crcs(program, sample.oracle, run.steps, name)
            compare_outputs(program, sample.oracle, run.outputs, name)
