"""Building the firmware of a staged output folder, with messages about what does not fit."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from edgec.base.errors import BuildError
from edgec.target.board import Board
from edgec.toolchain.platformio import build, keep_scons_only
from edgec.toolchain.size import FirmwareSize, firmware_size
from edgec.workflow.fits import Demand, overflow_error

PROJECT_DIR = "project"
_FULL_DISK_BYTES = 2 << 20
_OVERFLOW = re.compile(r"exceeds (\w+) by (\d+) bytes")


def build_firmware(staging: Path, board: Board, demand: Demand) -> FirmwareSize | None:
    """Build the project in a folder and put the firmware beside it.

    Args:
        staging: the folder; holds `project/`.
        board: the target.
        demand: what the models ask for, to explain what does not fit.

    Returns:
        Sizes of the firmware; None for a program of an operating system.

    Raises:
        MemoryPlanError: it does not fit the board.
        BuildError: the build failed.
    """
    project = staging / PROJECT_DIR
    try:
        files = build(project, board)
    except BuildError as error:
        found = _OVERFLOW.search(str(error))
        if found is None:
            # Tools say it in many ways, or not at all.
            free = shutil.disk_usage(project).free
            if free < _FULL_DISK_BYTES:
                error.hint = f"is the disk full? {free // 1024} KB are left on it"
            raise
        memory = "flash" if "flash" in found[1].lower() else "RAM"
        raise overflow_error(memory, int(found[2]), demand, board) from error
    size = None if board.is_hosted else firmware_size(files.elf)
    for path in (files.elf, files.bin, files.hex, files.uf2):
        if path is not None:
            shutil.copy(path, staging / path.name)
    keep_scons_only(project)
    return size
