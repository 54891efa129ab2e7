"""The linker script that a board's memory map becomes."""

from __future__ import annotations

from typing import Any

import pytest

from edgec.codegen.project import linker_script
from edgec.target.board import list_boards


@pytest.mark.parametrize("board", list_boards(), ids=lambda board: board.name)
def test_linker_script_names_every_memory(board: Any) -> None:
    if board.memory is None:
        return
    script = linker_script(board, board.memory)
    for region in board.memory.ram:
        assert f"ORIGIN = {region.origin:#x}, LENGTH = {region.size_bytes}" in script
    assert (".boot" in script) == (board.memory.flash.boot_bytes > 0)
