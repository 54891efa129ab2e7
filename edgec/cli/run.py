"""The command `edgec run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from edgec.cli.options import (
    Folder,
    Json,
    On,
)
from edgec.report import console


def run(
    folder: Folder,
    input: Annotated[Path, typer.Option("--input", help=".npz with inputs: 'x' [N, ...].")],
    output: Annotated[
        Path | None, typer.Option("--output", help="Write outputs by name to this .npz.")
    ] = None,
    on: On = "host",
    json: Json = False,
) -> None:
    """Run a compiled model on inputs, natively or as emulated firmware."""
    from edgec.base.samples import save_npz
    from edgec.workflow.session import run_file

    with console.progress("running") as progress:
        outputs = run_file(folder, input, on, progress)
    if output is not None:
        save_npz(output, outputs)
    if json:
        console.print_json({name: array.tolist() for name, array in outputs.items()})
        return
    rows = [
        (
            name,
            list(array.shape),
            " ".join(f"{v:.4g}" for v in array.reshape(len(array), -1)[0][:8]),
        )
        for name, array in outputs.items()
    ]
    console.out.print(console.table("Outputs", ("name", "shape", "first sample"), rows))
    if output is None:
        console.print_next(f"edgec run {folder} --input {input} --on {on} --output outputs.npz")
    else:
        console.out.print(f"written to {output}", markup=False)
