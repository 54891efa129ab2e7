"""The command `edgec compile`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from edgec.base.options import App
from edgec.base.output_file import check_writable
from edgec.cli.compile_request import CompileRequest, compile_request
from edgec.cli.help import OUTPUT
from edgec.cli.options import FitOption, Json
from edgec.cli.project import with_project
from edgec.report import console
from edgec.report.progress import status

if TYPE_CHECKING:
    from edgec.commands.compile_cached import Built
    from edgec.fit.choice import Fitted


def _compile(
    request: CompileRequest,
    fit: FitOption = None,
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
    fitted: Fitted | None = None
    if fit is not None:
        from edgec.cli.fit import fitted_request

        request, fitted = fitted_request(request, fit)
    result = request.compiled()
    from edgec.report.answer import print_answer
    from edgec.report.text import print_report

    if html is not None:
        _write_page(result.folder, html, request)
    if fitted is not None:
        from edgec.cli.fit import print_fitted

        print_fitted(fitted, result, request, quiet=json)
    if json:
        console.print_json(result.report.to_json())
        return
    if console.is_verbose():
        print_report(result.report, console.out)
    print_answer(
        result.report,
        result.folder,
        console.out,
        shown=() if html is None else (f"page: {console.safe(str(html))}",),
        following=_following(result, request),
    )


def _following(built: Built, request: CompileRequest) -> tuple[object, ...]:
    """The command that a user is likely to want after a build; empty where there is none."""
    from edgec.workflow.session import places_of

    places = places_of(built.folder)
    if built.report.app is not App.CONSOLE:
        return ("edgec", "flash", built.folder) if built.report.board.upload.tools else ()
    if not places:
        return ()
    data = request.labelled or ("LABELLED.npz",)
    return ("edgec", "evaluate", built.folder, "--data", *data, "--on", places[-1])


compile_command = with_project(compile_request, _compile)


def _write_page(folder: Path, html: Path, request: CompileRequest) -> None:
    """Write the page of a build, telling the user what is being done."""
    from edgec.commands.compile_page import write_page

    with status("counting codes") as say:
        write_page(folder, html, request.samples, request.labelled, say)
