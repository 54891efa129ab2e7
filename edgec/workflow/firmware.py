"""Build of the firmware of a staged output folder, with messages where it does not fit."""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from edgec.base.errors import BuildError
from edgec.base.main_program import MainProgram
from edgec.base.work_folder import temporary_folder
from edgec.target.board import Board
from edgec.toolchain.build_place import PROJECT_DIR, is_plain
from edgec.toolchain.platformio import FirmwareFiles, build, keep_scons_only
from edgec.toolchain.size import FirmwareSize, firmware_size
from edgec.workflow.fits import Demand, overflow_error
from edgec.workflow.main_program import explained, warnings

_log = logging.getLogger(__name__)
_FULL_DISK_BYTES = 2 << 20
_OVERFLOW = re.compile(r"region `(\w+)' overflowed by (\d+) bytes")


def build_firmware(
    staging: Path, board: Board, demand: Demand, main: MainProgram | None = None
) -> FirmwareSize | None:
    """Build the project in a folder and put the firmware beside it.

    Args:
        staging: the folder; holds `project/`.
        board: the target.
        demand: what the models ask for, to explain what does not fit.
        main: the user's own main program in it; its warnings are logged.

    Returns:
        Sizes of the firmware; None for a program of an operating system.

    Raises:
        MemoryPlanError: it does not fit the board.
        BuildError: the build failed.
    """
    project = staging / PROJECT_DIR
    with _buildable(project) as place:
        try:
            files = _built(place, staging, board, demand)
        except BuildError as error:
            raise (error if main is None else explained(error, main, _header(project))) from error
    for warning in () if main is None else warnings(files.said):
        _log.warning("main program: %s", warning)
    return None if board.is_hosted else firmware_size(staging / files.elf.name)


@contextmanager
def _buildable(project: Path) -> Iterator[Path]:
    """The project, or a copy of it if its path holds what SCons or its shell would act on."""
    if is_plain(project):
        yield project
        return
    with temporary_folder() as folder:
        copy = Path(shutil.copytree(project, folder / PROJECT_DIR))
        try:
            yield copy
        except BuildError as error:
            error.where = error.where.replace(str(copy), str(project))
            raise


def _header(project: Path) -> str:
    """The header of the network in a project."""
    found = project.glob("lib/*/include/edgec_*.h")
    return ", ".join(sorted(each.name for each in found if not each.stem.endswith("_labels")))


def _built(project: Path, staging: Path, board: Board, demand: Demand) -> FirmwareFiles:
    try:
        files = build(project, board)
    except BuildError as error:
        found = _OVERFLOW.search(str(error))
        if found is None:
            # Tools say it in many ways, or not at all.
            free = min(shutil.disk_usage(place).free for place in (project, staging))
            if free < _FULL_DISK_BYTES:
                error.hint = f"is the disk full? {free // 1024} KB are left on it"
            raise
        memory = "flash" if "flash" in found[1].lower() else "RAM"
        raise overflow_error(memory, int(found[2]), demand, board) from error
    for path in (files.elf, files.bin, files.hex, files.uf2):
        if path is not None:
            shutil.copy(path, staging / path.name)
    keep_scons_only(staging / PROJECT_DIR)
    return files
