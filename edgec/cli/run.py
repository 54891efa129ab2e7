"""The command `edgec run`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from edgec.cli.options import (
    DATA_FORMATS,
    OUT,
    Folder,
    Json,
    NormalizeOption,
    On,
    PortOption,
    check_port,
    port_words,
)
from edgec.cli.stream_options import ResampleOption
from edgec.report import console
from edgec.report.progress import progress
from edgec.report.tables import table

_SHOWN_VALUES = 10


def run(
    folder: Folder,
    input: Annotated[
        Path | None,
        typer.Option(
            "--input",
            help=f"Inputs: {DATA_FORMATS}",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option(*OUT, help="Write outputs by name to this .npz.")
    ] = None,
    normalize: NormalizeOption = None,
    resample: ResampleOption = False,
    on: On = "host",
    port: PortOption = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            help="With sound: the least score of a detection (default: 0.5 where scores are 0 to "
            "1).",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Run a compiled model on inputs, natively, as emulated firmware or on the board.

    With sound (--front-end) a recording gives scores over time; --json prints a line for each.
    Results as they come, again and again: edgec watch.
    """
    from edgec.base.errors import ConfigError
    from edgec.base.output_file import check_writable
    from edgec.base.samples import npz_path, save_npz
    from edgec.cli.data import sample_file, words_of
    from edgec.cli.listen import check_sound, hear_file, takes_recording
    from edgec.report.model import Report
    from edgec.workflow.session import run_file

    check_port(port, on)
    if output is not None:
        check_writable(npz_path(output), [] if input is None else [input])
    is_sound = takes_recording(folder, input)
    check_sound(input, normalize, threshold, heard=is_sound, live=False, resample=resample)
    if input is None:
        raise ConfigError("nothing is given to run", where="--input", hint="--input samples.npz")
    if is_sound:
        heard = hear_file(folder, input, on, port, threshold, json=json, resample=resample)
        if output is not None:
            console.err.print(f"written to {save_npz(output, heard.outputs)}", markup=False)
        return
    samples = sample_file(input, normalize, resample)
    with progress("running") as advance:
        outputs = run_file(folder, samples, on, advance, port)
    written = None if output is None else save_npz(output, outputs)
    if json:
        console.print_json({name: array.tolist() for name, array in outputs.items()})
        return
    labels = {tensor.name: tensor.labels for tensor in Report.read(folder).outputs}
    rows = [
        (
            name,
            list(array.shape),
            _first_sample(array.reshape(len(array), -1)[0].tolist(), labels[name]),
        )
        for name, array in outputs.items()
    ]
    console.out.print(table("Outputs", ("name", "shape", "first sample"), rows))
    if written is None:
        console.print_next(
            *("edgec", "run", folder, "--input", *words_of(input, normalize, resample)),
            *("--on", on, *port_words(port), "--output", "outputs.npz"),
        )
    else:
        console.out.print(f"written to {written}", markup=False)


def _first_sample(values: Sequence[float], labels: Sequence[str]) -> str:
    """The first values of a sample, and what the model's own labels call its decision."""
    text = _first_values(values)
    chosen = int(values[0]) if len(values) == 1 else values.index(max(values))
    return f"{text}: {labels[chosen]}" if 0 <= chosen < len(labels) else text


def _first_values(values: Sequence[float]) -> str:
    """The first values of a sample; how many more there are, if not all are shown."""
    shown = " ".join(f"{value:.4g}" for value in values[:_SHOWN_VALUES])
    more = len(values) - _SHOWN_VALUES
    return f"{shown}, and {more} more" if more > 0 else shown
