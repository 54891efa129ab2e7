"""The command `edgec evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from edgec.cli.options import (
    DATA_FORMATS,
    Folder,
    Json,
    NormalizeOption,
    On,
    PortOption,
    check_port,
)
from edgec.cli.stream_options import ResampleOption
from edgec.report import console
from edgec.report.progress import progress
from edgec.report.tables import table


def evaluate(
    folder: Folder,
    data: Annotated[Path, typer.Option(help=f"Inputs and labels: {DATA_FORMATS}")],
    normalize: NormalizeOption = None,
    resample: ResampleOption = False,
    on: On = "host",
    port: PortOption = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Use only the first LIMIT samples.")
    ] = None,
    bits: Annotated[
        str | None,
        typer.Option(
            metavar="8,6,4,3,2",
            help="Report accuracy and cycles at these widths of activations, in bits; for builds "
            "with --runtime-bits.",
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            help="Write confusions and the wrong samples to this .html file; with --bits the curve."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Measure the accuracy of a compiled model and of its float original on labelled data."""
    from edgec.base.output_file import check_writable
    from edgec.cli.data import sample_file, words_of
    from edgec.workflow import evaluation
    from edgec.workflow.session import places_of

    check_port(port, on)
    if html is not None:
        check_writable(html, [data])
    if bits is not None:
        _evaluate_widths(folder, (data, normalize, resample), bits, (on, port), limit, html, json)
        return
    with progress("evaluating") as advance:
        result, decisions = evaluation.evaluate_samples(
            folder, sample_file(data, normalize, resample), on, limit, advance, port
        )
    if html is not None:
        from edgec.profile.evaluation_html import write_evaluation_html
        from edgec.report.model import Report

        write_evaluation_html(Report.read(folder), result, decisions, html)
    if json:
        console.print_json(result.to_json())
        return
    rows = [
        (f"integer, on {on}", f"{result.accuracy:.2%}"),
        ("float model", f"{result.float_accuracy:.2%}"),
        ("equal decisions", f"{result.agreement:.2%}"),
        ("samples", result.n),
    ]
    console.out.print(table("Accuracy", ("", ">"), rows))
    for warning in result.warnings:
        console.print_prose(f"[bold yellow]warning:[/] {console.safe(warning)}")
    if html is not None:
        console.out.print(f"written to {console.safe(str(html))}")
    if "emulator" not in places_of(folder):
        return
    if on == "host":
        named = ("--data", *words_of(data, normalize, resample))
        console.print_next("edgec", "evaluate", folder, *named, "--on", "emulator")
    else:
        console.print_next("edgec", "profile", folder)


def _evaluate_widths(
    folder: Path,
    data: tuple[Path, str | None, bool],
    bits: str,
    place: tuple[str, str | None],
    limit: int | None,
    html: Path | None,
    json: bool,
) -> None:
    """The part of `evaluate` that looks at several widths of activations."""
    from edgec.cli.data import sample_file, words_of
    from edgec.profile.text import print_trade_off
    from edgec.profile.widths import parse_widths, trade_off
    from edgec.profile.widths_html import write_widths_html

    widths = parse_widths(bits)
    with progress("evaluating") as advance:
        found = trade_off(folder, sample_file(*data), widths, place[0], limit, advance, place[1])
    if html is not None:
        write_widths_html(found, html)
    if json:
        console.print_json(found.to_json())
        return
    print_trade_off(found, console.out)
    if html is None:
        console.print_next(
            *("edgec", "evaluate", folder, "--data", *words_of(*data)),
            *("--bits", bits, "--html", "bits.html"),
        )
    else:
        console.out.print(f"written to {html}", markup=False)
