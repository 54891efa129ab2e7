"""The command `edgec compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from edgec.cli.options import (
    Json,
    MemoryOption,
)
from edgec.report import console
from edgec.report.progress import status


def compare(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Folders written by edgec compile.")
    ],
    memory: MemoryOption = "flash",
    html: Annotated[
        Path | None, typer.Option(help="Write the figures with charts to this .html file.")
    ] = None,
    json: Json = False,
) -> None:
    """Show flash, RAM, cycles and (if evaluated) accuracy of several builds side by side."""
    from edgec.profile.compare import compare as compare_folders
    from edgec.profile.text import print_comparison

    if html is not None:
        from edgec.base.output_file import check_writable
        from edgec.profile.compare_html import write_compare_html

        check_writable(html)
    with status("profiling"):
        figures = compare_folders(folders, memory)
    if html is not None:
        write_compare_html(figures, html)
    if json:
        console.print_json([each.to_json() for each in figures])
        return
    print_comparison(figures, console.out)
    if html is not None:
        console.out.print(f"written to {console.safe(str(html))}")
    counted = [each.folder for each in figures if each.instructions is not None]
    if counted:
        console.print_next("edgec", "profile", counted[0])
