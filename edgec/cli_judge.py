"""Commands that judge a build: `edgec evaluate`, `profile` and `compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from edgec import console
from edgec.cli_options import Folder, Json, MemoryOption, On
from edgec.errors import ConfigError


def evaluate(
    folder: Folder,
    data: Annotated[Path, typer.Option(help=".npz with x float32 [N, ...] and y int labels [N].")],
    on: On = "host",
    limit: Annotated[
        int | None, typer.Option(min=1, help="Use only the first LIMIT samples.")
    ] = None,
    bits: Annotated[
        str | None,
        typer.Option(
            metavar="8,6,4,3,2",
            help="Accuracy and cycles at these widths of activations (compile --runtime-bits).",
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="With --bits: draw the curve into this .html file.")
    ] = None,
    json: Json = False,
) -> None:
    """Accuracy of a compiled model, beside its float original, on labelled data."""
    from edgec import evaluation

    if bits is not None:
        _evaluate_widths(folder, data, bits, on, limit, html, json)
        return
    if html is not None:
        raise ConfigError("there is no curve without widths", hint="add --bits 8,6,4,3,2")
    with console.progress("evaluating") as progress:
        result = evaluation.evaluate(folder, data, on, limit, progress)
    if json:
        console.print_json(result.to_json())
        return
    rows = [
        (f"integer, on {on}", f"{result.accuracy:.2%}"),
        ("float model", f"{result.float_accuracy:.2%}"),
        ("equal decisions", f"{result.agreement:.2%}"),
        ("samples", result.n),
    ]
    console.out.print(console.table("Accuracy", ("", ">"), rows))
    other = "emulator" if on == "host" else "host"
    console.print_next(f"edgec evaluate {folder} --data {data} --on {other}")


def _evaluate_widths(
    folder: Path, data: Path, bits: str, on: str, limit: int | None, html: Path | None, json: bool
) -> None:
    """The part of `evaluate` that looks at several widths of activations."""
    from edgec.profile.text import print_trade_off
    from edgec.profile.widths import parse_widths, trade_off
    from edgec.profile.widths_html import write_widths_html

    widths = parse_widths(bits)
    with console.progress("evaluating") as progress:
        found = trade_off(folder, data, widths, on, limit, progress)
    if html is not None:
        write_widths_html(found, html)
    if json:
        console.print_json(found.to_json())
        return
    print_trade_off(found, console.out)
    if html is None:
        console.print_next(f"edgec evaluate {folder} --data {data} --bits {bits} --html bits.html")
    else:
        console.out.print(f"written to {html}", markup=False)


def profile(
    folder: Folder,
    input: Annotated[
        Path | None,
        typer.Option("--input", help=".npz with inputs; the first sample is run [default: noise]."),
    ] = None,
    json: Json = False,
    html: Annotated[
        Path | None, typer.Option(help="Write the profile with charts to this .html file.")
    ] = None,
    memory: MemoryOption = "flash",
    length: Annotated[
        int | None,
        typer.Option(min=1, help="Tokens of the run (compile --max-length) [default: the most]."),
    ] = None,
    measured: Annotated[
        Path | None,
        typer.Option(
            metavar="PORT|LOG",
            help="Compare with a board: its serial port, or a log of its bench command.",
        ),
    ] = None,
) -> None:
    """Estimate cycles, time and energy of every layer, from the firmware alone.

    Runs firmware.elf in an emulator and prices what it executes by a model of the core and of its
    flash; docs/simulator.md says what is modelled and how far to trust it.  For boards with Linux
    it counts executed instructions.
    """
    from edgec.profile import profile as profile_folder
    from edgec.profile.html import write_html
    from edgec.profile.measured import measurement_of, with_measurement
    from edgec.profile.text import print_profile
    from edgec.report import Report

    report = Report.read(folder)
    if report.board.linux is not None:
        if html is not None or measured is not None or memory != "flash":
            raise ConfigError(
                "--html, --measured and --memory show cycles, of which there is no model here",
                where=report.board.name,
                hint=f"edgec profile {folder} counts instructions; --json has them all",
            )
        _count_instructions(folder, input, length, json)
        return
    measurement = None
    if measured is not None:  # first: a bad log is known before the work is done
        measurement = measurement_of(measured, report, input, length)
    with console.status("profiling"):
        found = profile_folder(folder, input, memory, length=length)
    if measurement is not None:
        found = with_measurement(found, measurement)
    if html is not None:
        write_html(found, report, html)
    if json:
        console.print_json(found.to_json())
        return
    print_profile(found, console.out)
    if html is None:
        console.print_next(f"edgec profile {folder} --html profile.html")
    else:
        console.out.print(f"written to {html}", markup=False)


def _count_instructions(folder: Path, input: Path | None, length: int | None, json: bool) -> None:
    """The part of `profile` for boards with Linux."""
    from edgec.profile.instructions import count_instructions
    from edgec.profile.instructions_text import print_instructions

    with console.status("counting"):
        found = count_instructions(folder, input, length=length)
    if json:
        console.print_json(found.to_json())
        return
    print_instructions(found, console.out)


def compare(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Folders written by edgec compile.")
    ],
    memory: MemoryOption = "flash",
    json: Json = False,
) -> None:
    """Flash, RAM, cycles and, where evaluated, accuracy of builds side by side."""
    from edgec.profile.compare import compare as compare_folders
    from edgec.profile.text import print_comparison

    with console.status("profiling"):
        figures = compare_folders(folders, memory)
    if json:
        console.print_json([each.to_json() for each in figures])
        return
    print_comparison(figures, console.out)
    console.print_next(f"edgec profile {folders[0]}")
