"""The linker script that a board's memory map becomes."""

from __future__ import annotations

from typing import Any

import pytest

from edgec.codegen.project import RamConstant, linker_script
from edgec.target.board import list_boards, load_board


@pytest.mark.parametrize("board", list_boards(), ids=lambda board: board.name)
def test_linker_script_names_every_memory(board: Any) -> None:
    if board.memory is None:
        return
    script = linker_script(board, board.memory)
    for region in board.memory.ram:
        assert f"ORIGIN = {region.origin:#x}, LENGTH = {region.size_bytes}" in script
    assert (".boot" in script) == (board.memory.flash.boot_bytes > 0)


def test_constants_in_ram_come_before_what_takes_all_others() -> None:
    """The first pattern that fits takes a section; the stack stays at the bottom of its region."""
    board = load_board("nucleo_h7a3zi_q")
    assert board.memory is not None
    constants = [
        RamConstant("edgec_a_weights_0", "dtcm", 64),
        RamConstant("edgec_pool_1", "dtcm", 32),
        RamConstant("edgec_pool_1", "dtcm", 32),
        RamConstant("edgec_b_weights_0", "axi_sram", 16),
        RamConstant("edgec_pool_1", "axi_sram", 32),
    ]
    script = linker_script(board, board.memory, "dtcm", constants)
    order = (
        ".stack",
        ".weights_dtcm",
        ".weights_axi_sram",
        ".weights :",
        ".rodata :",
        "    edgec_copies =",
        ".data :",
    )
    places = [script.index(f"    {name}") for name in order]
    assert places == sorted(places)
    assert script.count("*(.rodata.edgec_pool_1)") == 1
    assert "SIZEOF(.weights_dtcm) >= 96" in script
    assert "SIZEOF(.weights_axi_sram) >= 16" in script
    assert script.count("LONG(LOADADDR(") == 3
    assert "} > DTCM\n\n    .bss" in script
    # A program of the user's own may not call the network yet.
    unused = "SIZEOF(.weights_dtcm) == 0 ||"
    assert unused not in script
    assert unused in linker_script(board, board.memory, "dtcm", constants, own_main=True)
