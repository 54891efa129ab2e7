"""Needs of a compilation beside its inputs, checked before anything is loaded that takes time.

All of it could be said later, too, after minutes of work: a compiler that is not installed, an
output folder that cannot be replaced, a full disk, an option that has no effect on the board.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from edgec.base.errors import ConfigError, Effect, refuse_without_effect
from edgec.base.given_files import check_model_file, check_sample_file
from edgec.base.label_file import read_labels
from edgec.base.main_program import main_files
from edgec.base.options import App, CompileOptions
from edgec.base.output_dir import check_output
from edgec.base.output_file import check_writable
from edgec.base.system import forbids_programs
from edgec.target.board import Board
from edgec.toolchain.build_place import check_build_place
from edgec.toolchain.platformio import Mode, check_installed

_LEAST_BYTES = 512 << 10
"""Room for the C code of the smallest networks."""
_LEAST_BYTES_OF_BUILD = 2 << 20
"""Room that compilers need beside it."""


def check_compile(
    model: Path, board: Board, samples: Path | None, folder: Path, options: CompileOptions
) -> None:
    """Refuse at once what cannot end well.

    Args:
        model: the file of the model.
        board: the target.
        samples: the file or folder of calibration data; None: without any.
        folder: the output folder.
        options: how to compile.

    Raises:
        EdgecError: the first thing that is missing or in the way.
    """
    check_model_file(model)
    if samples is not None:
        check_sample_file(samples)
    if options.labels is not None:
        read_labels(options.labels)
    if options.main is not None:
        main_files(options.main)
    check_options(options, board)
    if options.build:
        check_build_place(folder)
        check_installed(board, Mode.INSTALLED)
    if options.verify:
        check_runs_programs(Path(tempfile.gettempdir()))
    if options.dump_ir is not None:
        check_writable(options.dump_ir / "00.txt")
    check_output(folder, force=options.force)
    check_room(folder, options)


def check_options(options: CompileOptions, board: Board) -> None:
    """Refuse options that would have no effect on a board.

    Raises:
        ConfigError: there is a budget and no firmware to hold against it, or a placement where an
            operating system decides.
    """
    budget = options.budget
    what = "the host" if board.is_host else "a board with Linux"
    no_sizes = f"{what} has no sizes or cycles to hold against a budget"
    not_built, of_edgec = "a budget needs built firmware", "leave out --app, or ms="
    no_time = "time is estimated for firmware with the main program of edgec"
    loads_all = f"{board.name} has an operating system, which loads all of a program into RAM"
    given, timed = budget is not None, budget is not None and budget.time_ms is not None
    refuse_without_effect(
        [
            Effect("--budget", given, not board.is_hosted, no_sizes),
            Effect("--budget", given, options.build, not_built, "leave out --no-build"),
            Effect("--budget ms=", timed, options.app is App.CONSOLE, no_time, of_edgec),
            Effect("--placement", options.placement is not None, not board.is_hosted, loads_all),
        ]
    )


def check_runs_programs(folder: Path) -> None:
    """Refuse a folder for temporary files in which no program runs, as the checks of a build need.

    Raises:
        ConfigError: its file system is mounted with noexec.
    """
    if forbids_programs(folder):
        raise ConfigError(
            "no program runs in this folder for temporary files (noexec)",
            where=str(folder),
            hint="name another folder by TMPDIR, or leave out the checks of the build: --no-verify",
        )


def check_room(folder: Path, options: CompileOptions) -> None:
    """Refuse to begin where the disk is full.

    Raises:
        ConfigError: it is, at the output folder or, of a build, at that of temporary files.
    """
    least = _LEAST_BYTES + (_LEAST_BYTES_OF_BUILD if options.build else 0)
    places = [folder, *([Path(tempfile.gettempdir())] if options.build or options.verify else [])]
    for place in places:
        there = next(
            each for each in (place.absolute(), *place.absolute().parents) if each.exists()
        )
        free = shutil.disk_usage(there).free
        if free < least:
            raise ConfigError(
                f"the disk is full: {free // 1024:,} KB are left, and a build takes "
                f"{least // 1024:,} KB or more",
                where=str(place),
                hint="choose another --out, or another folder for temporary files by TMPDIR",
            )
