"""Options of layers that run in patches."""

from __future__ import annotations

from typing import Annotated

import typer

from edgec.cli.help import OUTPUT

InputPassesOption = Annotated[
    int,
    typer.Option(
        "--input-passes",
        metavar="N",
        min=1,
        max=20,
        help="With --input-rows: your program can hand the rows of one image over up to N times, "
        "once for each patch, where nothing else keeps within RAM of the board or of --budget "
        "(docs/rows.md).",
        rich_help_panel=OUTPUT,
    ),
]
