"""Options on kernels that were measured: the tune file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from edgec.cli.help import OUTPUT

TuneOption = Annotated[
    Path | None,
    typer.Option(
        "--tune",
        metavar="FILE",
        help="Tune file: kernels of layers as edgec tune measured them (default: edgec.tune.toml "
        "beside project or model, where there is one).",
        rich_help_panel=OUTPUT,
    ),
]
NoTuneOption = Annotated[
    bool,
    typer.Option(
        "--no-tune",
        help="Choose all kernels by estimates, whatever tune file lies there.",
        rich_help_panel=OUTPUT,
    ),
]
