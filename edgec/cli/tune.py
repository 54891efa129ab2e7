"""The command `edgec tune`."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from edgec.cli.compile_request import CompileRequest, compile_request
from edgec.cli.help import SEARCH
from edgec.cli.options import Json
from edgec.cli.project import with_project
from edgec.report import console
from edgec.report.progress import status

_OF_BUILDS = (
    *("out", "build", "verify", "force", "dump_ir"),
    *("budget", "app", "labels", "pixels", "main", "no_tune"),
)
"""Options of a build that play no part here."""


def _tune(
    request: CompileRequest,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Measure layers that the tune file has, too.", rich_help_panel=SEARCH
        ),
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, help="Builds at the same time (default: all cores).", rich_help_panel=SEARCH
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Measure the kernels that could compute each layer of MODEL, and keep the fastest ones.

    All of them compute the same numbers.  Firmware is built with each and traced in the emulator.
    The choices go into the tune file (--tune FILE; default: edgec.tune.toml beside project or
    model), by layer and target, which edgec compile takes for equal layers of any network.
    """
    file = _file(request)
    from edgec.base.output_file import check_writable
    from edgec.cli.tune_text import print_tuning
    from edgec.commands.tune import check_tunable, tune_model
    from edgec.commands.tune_builds import of_builds
    from edgec.target.board import load_board

    check_writable(file, request.reads)
    board = load_board(request.board)
    check_tunable(board, request.options)
    # Builds are made beside each other in a temporary folder, whatever lies where one would go.
    replace(request, options=of_builds(request.options)).check(Path(tempfile.gettempdir(), "edgec"))
    with status("tuning") as say:
        found = tune_model(
            request.model,
            board,
            say=say,
            calibration=request.samples,
            options=request.options,
            file=file,
            again=again,
            workers=workers,
            cache=request.cache,
        )
    if json:
        console.print_json(found.to_json())
        return
    print_tuning(found, board, console.out)


def _file(request: CompileRequest) -> Path:
    """The tune file to write: as named, as it lies there, or a new one."""
    from edgec.target.tune_file import TUNE_FILE

    return request.tune_file or request.tune_home / TUNE_FILE


tune_command = with_project(compile_request, _tune, _OF_BUILDS)
