"""The command `edgec check`."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from edgec.base.errors import Effect, refuse_without_effect
from edgec.cli.compile_request import CompileRequest, compile_request
from edgec.cli.given import check_given
from edgec.cli.option_table import options_of
from edgec.cli.options import DATA_FORMATS, Json, Run
from edgec.cli.project import TABLES, attributed_to, on_command_line, requested
from edgec.cli.project_file import ProjectFile, read_project
from edgec.report import console
from edgec.report.console import print_prose
from edgec.report.progress import progress
from edgec.report.tables import table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from edgec.base.samples import SampleFile
    from edgec.report.figure_changes import FigureChange
    from edgec.report.figures import FigureFile

_TABLE = "check"
_COLUMNS = ("figure", ">committed", ">now", ">change", ">allowed", "")


def check(
    context: typer.Context,
    project: Annotated[
        Path, typer.Argument(metavar="[DIR|FILE]", help="Folder with edgec.toml, or such a file.")
    ] = Path(),
    data: Annotated[
        Path | None, typer.Option(help=f"Inputs and labels, for the accuracy: {DATA_FORMATS}")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Use only the first LIMIT samples.")
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(
            metavar="flash=1%,ram=256,...",
            help="How much worse figures may be: flash, ram and cycles by a share or a number, "
            "accuracy by percentage points, db by decibels (default: "
            "flash=1%,ram=1%,cycles=1%,accuracy=0.5,db=0.5).",
        ),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="Write the figures of this build, to be committed.")
    ] = False,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE.md", help="Write the table as Markdown, too.")
    ] = None,
    run: Run = False,
    json: Json = False,
) -> None:
    """Build what edgec.toml says; fail if it is larger, slower or less right than before.

    The figures to compare with are in edgec.lock.json beside edgec.toml; --update writes it, and so
    does the first run, unless in CI (where CI is set), where a missing file is an error. The
    options may stand in the table [check] of edgec.toml.
    """
    found, options = read_project(project), options_of(check)
    check_given(found.values(options_of(compile_request), tables=TABLES))
    from edgec.base.output_file import check_writable, write_whole
    from edgec.commands.check import committed_figures, compared, measured, refuse_regressions
    from edgec.report.figure_changes import Tolerance
    from edgec.report.figures_markdown import figures_markdown

    given: dict[str, Any] = {"data": data, "limit": limit, "tolerance": tolerance}
    in_file = found.values(options, table=_TABLE)
    from_file = {k: v for k, v in in_file.items() if not on_command_line(context, k)}
    given.update(from_file)
    figures = found.path.with_name(f"{found.path.stem}.lock.json")
    first = not update and not figures.exists() and "CI" not in os.environ
    update = update or first
    for path in (*([figures] if update else ()), *([markdown] if markdown is not None else ())):
        check_writable(path)
    with attributed_to(found, options, from_file, section=_TABLE):
        refuse_without_effect([_limits_something(given)])
        allowed = Tolerance.parse(given["tolerance"])
    committed = committed_figures(figures, update=update)
    folder, samples = _built(found, given["data"], run=run)
    with progress("measuring") as advance:
        fresh = measured(folder, samples, given["limit"], advance)
    changes = compared(committed, fresh, allowed, figures, update=update)
    if markdown is not None:
        write_whole(markdown, figures_markdown(fresh, changes).encode())
    if update:
        fresh.write(figures)
    if not json:
        _print(fresh, changes, figures if update else None)
        if first:
            print_prose("these are the first figures: from now on edgec check compares with them")
    if not update:
        refuse_regressions(changes, figures)
    if json:
        found_json = {"changes": [each.to_json() for each in changes], "fresh": fresh.to_json()}
        console.print_json(found_json)
    elif not update:
        console.print_next("edgec", "profile", folder)
    else:
        console.print_next("git", "add", figures)


def _limits_something(given: dict[str, Any]) -> Effect:
    limits, data = given["limit"] is not None, given["data"] is not None
    return Effect("--limit", limits, data, "there are no samples to limit", "add --data")


def _built(project: ProjectFile, data: Path | None, *, run: bool) -> tuple[Path, Any]:
    """The folder of a fresh build, and the labelled samples, normalized like the calibration's."""
    table = options_of(compile_request)
    values = project.values(table, tables=TABLES)
    defaults = {
        option.name: None if option.required else parameter.default
        for option, parameter in (
            (option, inspect.signature(compile_request).parameters[option.name]) for option in table
        )
    }
    request: CompileRequest = requested(
        compile_request, table, {**defaults, **values, "run": run}, project
    )
    with attributed_to(project, table, values):
        folder = request.compiled().folder
    return folder, None if data is None else _samples(data, values)


def _samples(data: Path, values: Mapping[str, Any]) -> SampleFile:
    from edgec.cli.data import sample_file

    return sample_file(data, values.get("normalize"), values.get("resample", False))


def _print(found: FigureFile, changes: Sequence[FigureChange], written: Path | None) -> None:
    rows = [each.texts for each in changes]
    console.out.print(table(f"{found.model} on {found.board}", _COLUMNS, rows))
    if written is not None:
        console.out.print(f"written to {console.safe(str(written))}")
