"""The command `edgec bundle`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from edgec.cli.options import (
    OUT,
    Json,
)
from edgec.report import console
from edgec.report.progress import status


def bundle(
    folders: Annotated[
        list[Path], typer.Argument(help="Build folders of `edgec compile`.", metavar="DIR...")
    ],
    out: Annotated[Path, typer.Option(*OUT, help="Output folder.")],
    force: Annotated[
        bool, typer.Option("--force", help="Replace generated files that were edited by hand.")
    ] = False,
    json: Json = False,
) -> None:
    """Build one firmware that serves several compiled models.

    All models must have been compiled for one board.  They share the arena; a pool of weights that
    several of them use (edgec compress --shared-pool) is stored once.
    """
    from edgec.commands.bundle import bundle_models
    from edgec.report.bundle import print_bundle

    with status("bundling") as say:
        found = bundle_models(folders, out, force=force, progress=say)
    if json:
        console.print_json(found.to_json())
        return
    print_bundle(found, console.out)
    console.out.print(f"written to {console.safe(str(out))}")
    if found.board.upload.tools:
        console.print_next(
            *("edgec", "flash", out), note="on the console, `model N` selects a model"
        )
