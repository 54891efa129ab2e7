"""The command `edgec new`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from edgec.cli.options import BoardOption, Json
from edgec.report import console


def new(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to make.")],
    board: BoardOption = "nucleo",
    example: Annotated[
        str,
        typer.Option(
            "--example",
            metavar="digits|wakeword",
            help="digits: a network that reads digits; wakeword: one that hears two words.",
        ),
    ] = "digits",
    json: Json = False,
) -> None:
    """Make a project to begin with: model, samples, main program, edgec.toml, files for CI.

    `edgec compile` works in it at once; its src/main.c reads samples, or hears a microphone.
    """
    from edgec.commands.new import new_project

    names = new_project(directory, board, example)
    if json:
        console.print_json({"folder": str(directory), "files": names})
        return
    console.out.print(f"written to {console.safe(str(directory))}")
    for name in names:
        console.out.print(f"  {name}")
    here = directory.resolve() == Path.cwd()
    console.print_next("edgec", "compile", *(() if here else ("--project", directory)))
