"""The command `edgec quantize`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from edgec.base.errors import Effect, refuse_without_effect
from edgec.base.options import IntegerOptions, QuantOptions, StatePairs, WeightTypes
from edgec.cli.file_options import QonnxOption, WeightTypesOption
from edgec.cli.help import INPUT, OUTPUT, TRAINING
from edgec.cli.inputs import shapes_of, values_of
from edgec.cli.options import (
    DATA_FORMATS,
    OUT,
    RENEW_HELP,
    VIEWS_HELP,
    BiasCorrection,
    EffortOption,
    Equalize,
    Json,
    Model,
    NormalizeOption,
    ObserverOption,
    Percentile,
    Shapes,
    StateOption,
    ValueOption,
)
from edgec.report import console
from edgec.report.console import count, print_labelled, print_prose, safe
from edgec.report.progress import status
from edgec.report.tables import table

if TYPE_CHECKING:
    from edgec.commands.quantize import Quantization, Shares
    from edgec.finetune.integers import TrainingReport


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
    state: StateOption = None,
    value: ValueOption = None,
    observer: ObserverOption = None,
    percentile: Percentile = None,
    equalize: Equalize = None,
    bias_correction: BiasCorrection = None,
    effort: EffortOption = None,
    train: Annotated[
        Path | None,
        typer.Option(
            help=f"Train the integers on these samples with labels: {DATA_FORMATS}",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(
            min=1, help="Passes over the training data (default: 10).", rich_help_panel=TRAINING
        ),
    ] = None,
    teacher: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL",
            help="Float model to learn from (default: the model itself).",
            rich_help_panel=TRAINING,
        ),
    ] = None,
    augment: Annotated[
        bool,
        typer.Option(
            "--augment",
            help="Mirror and shift training images at random.",
            rich_help_panel=TRAINING,
        ),
    ] = False,
    views: Annotated[
        int | None, typer.Option(min=1, help=VIEWS_HELP, rich_help_panel=TRAINING)
    ] = None,
    renew: Annotated[
        bool, typer.Option("--renew", help=RENEW_HELP, rich_help_panel=TRAINING)
    ] = False,
    device: Annotated[
        str,
        typer.Option(metavar="auto|cpu|cuda", help="Where to train.", rich_help_panel=TRAINING),
    ] = "auto",
    seed: Annotated[
        int | None,
        typer.Option(
            help="Seed of the random numbers of training (default: 0).", rich_help_panel=TRAINING
        ),
    ] = None,
    evaluation: Annotated[
        Path | None,
        typer.Option(
            "--eval",
            help=f"Measure accuracy on samples with labels: {DATA_FORMATS}",
            rich_help_panel=INPUT,
        ),
    ] = None,
    weight_types: WeightTypesOption = None,
    qonnx: QonnxOption = False,
    json: Json = False,
) -> None:
    """Quantize a float model to a standard QDQ int8 ONNX file that onnxruntime runs.

    With training data the network is then trained in the very integers that firmware computes
    (with PyTorch; an interrupted run continues).
    """
    from edgec.cli.data import samples_of_each, words_of
    from edgec.commands.quantize import quantize_model
    from edgec.commands.quantize_training import IntegerTraining
    from edgec.commands.training import Training

    trains = {
        "epochs": epochs is not None,
        "teacher": teacher is not None,
        "augment": augment,
        "views": views is not None,
        "renew": renew,
        "device": device != "auto",
        "seed": seed is not None,
    }
    why = "there is nothing to train on"
    refuse_without_effect(
        Effect(f"--{option}", given, train is not None, why, "add --train")
        for option, given in trains.items()
    )
    options = IntegerOptions(
        shapes=shapes_of(shape),
        state=StatePairs.parse(state or []),
        values=values_of(value),
        quant=QuantOptions(observer, percentile, equalize, bias_correction, effort=effort),
    )
    given = [[path] if path is not None else [] for path in (calibration, train, evaluation)]
    samples, labelled, measured = (
        each[0] if each else None for each in samples_of_each(given, normalize)
    )
    how = Training(epochs or 0, augment, device, seed or 0, teacher, 1, views or 0, renew)
    with status("quantizing") as say:
        result = quantize_model(
            model,
            output,
            calibration=samples,
            options=options,
            train=None if labelled is None else IntegerTraining(labelled, how),
            evaluation=measured,
            types=weight_types or WeightTypes.INT8,
            qonnx=qonnx,
            progress=say,
        )
    if json:
        console.print_json(result.to_json())
        return
    print_quantization(result, console.out)
    words: tuple[object, ...] = ()
    if result.open_ranges and calibration is not None:
        words = ("--calibration", *words_of(calibration, normalize))
    console.print_next("edgec", "compile", output, "--board", "nucleo", *words)


def print_quantization(result: Quantization, out: Console) -> None:
    """Accuracy of a quantized model in words; with `-v` layer by layer."""
    from edgec.commands.compile_facts import decisions_report, estimate_report
    from edgec.quant.common.report import weights_notes
    from edgec.report.model import finite
    from edgec.report.text import estimate_line
    from edgec.report.verdict import verdict_of

    rows = [
        (
            layer.value,
            layer.op.removeprefix("Q"),
            f"{layer.sqnr_db:.1f}",
            f"{layer.saturated:.2%}",
        )
        for layer in result.report.layers
    ]
    if rows and console.is_verbose():
        columns = ("layer output", "operator", ">SQNR dB", ">saturated")
        out.print(table("Quantization", columns, rows))
    decisions = decisions_report(result.report.decisions)
    expected = None if result.training else estimate_report(result.report.estimate)
    if console.is_verbose():
        if expected is not None:
            out.print(estimate_line(expected))
        for note in weights_notes(result.report.weights):
            out.print(safe(note))
    if result.training is not None:
        _print_training(result.training, out)
    if result.accuracy is not None:
        out.print(_accuracy(result.accuracy))
    for warning in result.report.warnings:
        print_prose(f"[bold yellow]warning:[/] {safe(warning)}", out)
    last = result.report.layers[-1].sqnr_db if result.report.layers else None
    source = result.report.source.value
    if result.training is None:
        found = verdict_of(source, decisions, expected, finite(last))
        print_labelled("accuracy", found.text, out)
    print_labelled("written", safe(str(result.output)), out)


def _print_training(found: TrainingReport, out: Console) -> None:
    """Print the gain of training on the held-back samples, and the check of its integers."""
    rows = [
        ("teacher, in float", f"{found.teacher:.2%}", ""),
        ("int8", f"{found.before:.2%}", f"{found.loss_before:.4f}"),
    ]
    if found.epoch:
        rows.append(("int8, trained", f"{found.after:.2%}", f"{found.loss_after:.4f}"))
    out.print(table("Training", ("", ">accuracy", ">loss"), rows))
    samples = f"{count(found.held_back)} of {count(found.trained + found.held_back)}"
    out.print(f"measured on {samples} training samples, which were held back to choose the epoch")
    if found.epoch:
        out.print(f"kept: epoch {found.epoch} of {found.epochs}")
    else:
        out.print(
            f"none of {found.epochs} epochs was better: the result is that of calibration alone"
        )
    equal = "all equal" if not found.unequal else f"{count(found.unequal)} of them differ"
    out.print(
        f"checked: {count(found.checked)} outputs in the integers that were trained, in those of "
        f"the definition and in those of the file: {equal}"
    )


def _accuracy(found: Shares) -> object:
    rows = [("float", f"{found.real:.2%}"), ("int8", f"{found.int8:.2%}")]
    if found.trained is not None:
        rows.append(("int8, trained", f"{found.trained:.2%}"))
    return table(f"Accuracy on {count(found.n)} samples", ("", ">"), rows)
