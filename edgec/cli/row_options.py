"""Options of layers that compute a few rows at a time."""

from __future__ import annotations

from typing import Annotated

import typer

from edgec.base.options import Rows
from edgec.cli.help import OUTPUT

RowsOption = Annotated[
    Rows,
    typer.Option(
        "--rows",
        help="Let layers compute a few rows at a time, which keeps a few rows of most tensors in "
        "RAM instead of all. auto: where the arena does not fit the board, or RAM of --budget, "
        "otherwise; always: the smallest arena; never (docs/rows.md).",
        rich_help_panel=OUTPUT,
    ),
]
InputRowsOption = Annotated[
    bool,
    typer.Option(
        "--input-rows",
        help="Let your program hand the image over row by row, as a camera gives it, so that no "
        "whole image is in RAM (docs/rows.md).",
        rich_help_panel=OUTPUT,
    ),
]
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
