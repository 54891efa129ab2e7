"""The command `edgec quantize`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from edgec.base.options import CompileOptions, QuantOptions
from edgec.cli.options import (
    DATA_FORMATS,
    OUT,
    BiasCorrection,
    EffortOption,
    Equalize,
    Json,
    Model,
    NormalizeOption,
    ObserverOption,
    Percentile,
    Shapes,
    shapes_of,
)
from edgec.cli.panels import INPUT, OUTPUT
from edgec.report import console
from edgec.report.console import safe
from edgec.report.progress import status
from edgec.report.tables import table

if TYPE_CHECKING:
    from edgec.commands.quantize import Quantization


def quantize(
    model: Model,
    output: Annotated[
        Path,
        typer.Option(
            *OUT, metavar="MODEL.int8.onnx", help="QDQ ONNX to write.", rich_help_panel=OUTPUT
        ),
    ],
    calibration: Annotated[
        Path | None, typer.Option(help=f"Typical inputs: {DATA_FORMATS}", rich_help_panel=INPUT)
    ] = None,
    normalize: NormalizeOption = None,
    shape: Shapes = None,
    observer: ObserverOption = None,
    percentile: Percentile = None,
    equalize: Equalize = None,
    bias_correction: BiasCorrection = None,
    effort: EffortOption = None,
    json: Json = False,
) -> None:
    """Quantize a float model to a standard QDQ int8 ONNX file that onnxruntime runs."""
    from edgec.cli.data import samples_of
    from edgec.commands.quantize import quantize_model

    options = CompileOptions(
        shapes=shapes_of(shape),
        quant=QuantOptions(observer, percentile, equalize, bias_correction, effort=effort),
    )
    samples = samples_of(calibration, normalize)
    with status("quantizing") as say:
        result = quantize_model(model, output, calibration=samples, options=options, progress=say)
    if json:
        console.print_json(result.to_json())
        return
    print_quantization(result, console.out)
    console.print_next("edgec", "compile", output, "--board", "nucleo")


def print_quantization(result: Quantization, out: Console) -> None:
    """Quality of a quantized model, layer by layer."""
    from edgec.quant.common.notes import weights_notes

    rows = [
        (
            layer.value,
            layer.op.removeprefix("Q"),
            f"{layer.sqnr_db:.1f}",
            f"{layer.saturated:.2%}",
        )
        for layer in result.report.layers
    ]
    if rows:
        columns = ("layer output", "operator", ">SQNR dB", ">saturated")
        out.print(table("Quantization", columns, rows))
    for note in weights_notes(result.report.weights):
        out.print(safe(note))
    for warning in result.report.warnings:
        out.print(f"[bold yellow]warning:[/] {safe(warning)}")
    out.print(f"written to {safe(str(result.output))}")
