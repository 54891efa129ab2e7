"""The command `edgec flash`."""

from __future__ import annotations

from typing import Annotated

import typer

from edgec.cli.options import (
    Folder,
)
from edgec.report import console
from edgec.report.progress import status


def flash(
    folder: Folder,
    port: Annotated[
        str | None,
        typer.Option(
            help="Which board, when there are several: the probe's serial number, the folder of "
            "its USB drive, a GDB server as gdb://HOST:PORT, or for bossac the port's name without "
            "/dev."
        ),
    ] = None,
) -> None:
    """Write the firmware of a build folder to the board that is plugged in."""
    from edgec.base.given_files import REPORT_JSON
    from edgec.report.bundle import board_of
    from edgec.toolchain.build_place import PROJECT_DIR
    from edgec.toolchain.flash import upload

    board = board_of(folder)
    with status("uploading"):
        done = upload(folder / PROJECT_DIR, board, port=port)
    from edgec.workflow.apps import command_end

    console.out.print(done, markup=False)
    end = command_end(folder)
    if (folder / REPORT_JSON).is_file() and not end:  # neither a bundle nor another program
        console.print_next("edgec", "validate", folder, "--on", "device")
        return
    baud = board.console.baud if board.console else 115200
    console.print_next(
        *("python", "-m", "serial.tools.miniterm", "-", baud), note=f"then type: help{end}"
    )
