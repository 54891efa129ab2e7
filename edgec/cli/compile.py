"""The command `edgec compile`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from edgec.base.options import App
from edgec.base.output_file import check_writable
from edgec.cli.compile_request import CompileRequest, compile_request
from edgec.cli.help import OUTPUT
from edgec.cli.options import Json
from edgec.cli.project import with_project
from edgec.report import console
from edgec.report.progress import status


def _compile(
    request: CompileRequest,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.html",
            help="Write a page on the build: memory, layers, codes of tensors.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Quantize MODEL, generate C, build firmware for BOARD and check it against the reference.

    Without MODEL, edgec.toml in this folder says what to compile.  The output folder holds
    report.json and report.txt, library/ (the C library, usable alone), project/ (PlatformIO),
    reference.npz (what edgec validate compares with), firmware.elf, .bin and .hex.
    """
    if html is not None:
        check_writable(html, request.reads)
    result = request.compiled()
    from edgec.report.text import print_report
    from edgec.workflow.session import places_of

    if html is not None:
        _write_page(result.folder, html, request)
    if json:
        console.print_json(result.report.to_json())
        return
    print_report(result.report, console.out)
    print_files(result.folder)
    if html is not None:
        console.out.print(f"  page: {console.safe(str(html))}")
    places = places_of(result.folder)
    if result.report.app is not App.CONSOLE:
        if result.report.board.upload.tools:
            console.print_next("edgec", "flash", result.folder)
    elif places:
        data = request.labelled or ("LABELLED.npz",)
        words = ("evaluate", result.folder, "--data", *data, "--on", places[-1])
        console.print_next("edgec", *words)


compile_command = with_project(compile_request, _compile)


def _write_page(folder: Path, html: Path, request: CompileRequest) -> None:
    """Write the page of a build, telling the user what is being done."""
    from edgec.commands.compile_page import write_page

    with status("counting codes") as say:
        write_page(folder, html, request.samples, request.labelled, say)


def print_files(folder: Path) -> None:
    """Print the paths of the results."""
    from edgec.report.model import REPORT_JSON
    from edgec.report.text import REPORT_TXT
    from edgec.toolchain.build_place import PROJECT_DIR
    from edgec.workflow.session import LIBRARY_DIR

    files = {
        "report": (REPORT_TXT, REPORT_JSON),
        "firmware": ("firmware.elf", "firmware.bin", "firmware.hex", "firmware.uf2"),
        "C library": (LIBRARY_DIR,),
        "project": (PROJECT_DIR,),
    }
    console.out.print(f"written to {console.safe(str(folder))}")
    for what, names in files.items():
        found = [str(folder / name) for name in names if (folder / name).exists()]
        if found:
            console.out.print(f"  {what}: {console.safe(', '.join(found))}")
