"""The command `edgec report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from edgec.base.errors import ConfigError, Effect, refuse_without_effect
from edgec.cli.options import DATA_FORMATS, Folder, NormalizeOption
from edgec.cli.stream_options import ResampleOption
from edgec.report import console
from edgec.report.progress import status

_PLACES = ("host", "emulator")


def report(
    folder: Folder,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Inputs, with or without labels: adds accuracy, confusions and the wrong samples "
            f"(default: noise): {DATA_FORMATS}"
        ),
    ] = None,
    normalize: NormalizeOption = None,
    resample: ResampleOption = False,
    on: Annotated[
        str | None,
        typer.Option(
            "--on",
            metavar="host|emulator",
            help="Where the build runs for validation and accuracy (default: host, or emulator "
            "where the host cannot).",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Use only the first LIMIT samples."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="The page (default: report.html in the folder).")
    ] = None,
) -> None:
    """Write one page on a build: memory, layers, accuracy, validation, profile, weight pools.

    The page is one file that needs no network.
    """
    from edgec.base.output_file import check_writable
    from edgec.cli.data import samples_of, words_of
    from edgec.commands.compile_page import write_report

    if on is not None and on not in _PLACES:
        raise ConfigError(f"{on} is no place for a report", where="--on", hint="host or emulator")
    no_file = "pseudo-random inputs are always the same three"
    refuse_without_effect(
        [Effect("--limit", limit is not None, data is not None, no_file, "add --data FILE")]
    )
    samples = samples_of(data, normalize, resample)
    page = folder / "report.html" if html is None else html
    check_writable(page, [data])
    named = () if data is None else words_of(data, normalize, resample)
    with status("reading the build") as say:
        write_report(folder, page, samples, on, limit, tuple(map(str, named)), say)
    console.out.print(f"written to {console.safe(str(page))}")
