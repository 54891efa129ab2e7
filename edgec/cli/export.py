"""The command `edgec export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from edgec.cli.options import OUT, Folder, Json, LabelsOption
from edgec.report import console


def export(
    folder: Folder,
    form: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="FORMAT",
            help="arduino, c (with a Makefile), cmake, idf (ESP-IDF), platformio or zephyr.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option(*OUT, help="Output folder (default: build/<name>-<format>).")
    ] = None,
    labels: LabelsOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace generated files that were edited by hand.")
    ] = False,
    json: Json = False,
) -> None:
    """Write the C library of a compiled model for another build system.

    The result works as it stands: sources, headers, readme, licence and an example.
    """
    from edgec.commands.export import export_library

    found = export_library(folder, form, out=out, labels=labels, force=force)
    if json:
        console.print_json(found.to_json())
        return
    named = f", {found.labels} labels" if found.labels else ""
    size = f"{len(found.files)} files, {console.count(found.size_bytes)} bytes{named}"
    console.out.print(f"{found.form.title} {found.names.prefix}: {size}")
    console.out.print(f"written to {console.safe(str(found.folder))}")
    console.out.print(f"to use it: {found.form.next_step}; README.md there says more")
