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
        str | None, typer.Option(help="Upload port or mount point, when there are several boards.")
    ] = None,
) -> None:
    """Write the firmware of a build folder to the board that is plugged in."""
    from edgec.report.bundle import board_of
    from edgec.toolchain.flash import upload
    from edgec.workflow.firmware import PROJECT_DIR

    board = board_of(folder)
    with status("uploading"):
        done = upload(folder / PROJECT_DIR, board, port=port)
    console.out.print(done, markup=False)
    console.print_next("edgec", "validate", folder, "--on", "device")
