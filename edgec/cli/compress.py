"""The command `edgec compress`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from edgec.base.effect import Effect, refuse_without_effect
from edgec.base.errors import ConfigError
from edgec.base.options import CompileOptions, WeightPoolOptions
from edgec.cli.options import DATA_FORMATS, OUT, Json, NormalizeOption, Shapes, shapes_of
from edgec.report import console
from edgec.report.progress import status

DEFAULTS = WeightPoolOptions()


def compress(
    models: Annotated[list[Path], typer.Argument(metavar="MODEL.onnx...", help="Float models.")],
    output: Annotated[
        Path | None,
        typer.Option(
            *OUT,
            metavar="MODEL.pool.onnx",
            help="File to write; for several models a folder (default: beside each model).",
        ),
    ] = None,
    pool_size: Annotated[int, typer.Option(help="Vectors of the pool.")] = DEFAULTS.size,
    group: Annotated[int, typer.Option(help="Weights of a vector: 4, 8 or 16.")] = DEFAULTS.group,
    signed: Annotated[
        bool,
        typer.Option("--signed", help="Make half of the pool the negatives of the other half."),
    ] = False,
    calibration: Annotated[
        list[Path] | None,
        typer.Option(help=f"Typical inputs, best a few hundred: {DATA_FORMATS}"),
    ] = None,
    train: Annotated[
        list[Path] | None,
        typer.Option(help=f"Fine-tune on these samples with labels: {DATA_FORMATS}"),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(min=1, help="Passes over the training data (default: 40).")
    ] = None,
    augment: Annotated[
        bool, typer.Option("--augment", help="Mirror and shift training images at random.")
    ] = False,
    device: Annotated[str, typer.Option(help="Where to train: auto, cpu or cuda.")] = "auto",
    evaluation: Annotated[
        list[Path] | None,
        typer.Option("--eval", help=f"Measure accuracy on samples with labels: {DATA_FORMATS}"),
    ] = None,
    layers: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Pool only the layers whose name matches PATTERN (which may hold * and ?). "
            "Repeatable. Default: every layer for which it saves enough.",
        ),
    ] = None,
    shared_pool: Annotated[
        bool, typer.Option("--shared-pool", help="Let several models share one pool.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.")] = DEFAULTS.seed,
    normalize: NormalizeOption = None,
    shape: Shapes = None,
    json: Json = False,
) -> None:
    """Replace a model's weights by indices into a small pool of vectors, 7 to 10 times smaller.

    The result is standard ONNX.  Calibration data make it fit what the network computes; with
    training data it is fine-tuned as well (with PyTorch; an interrupted run continues).
    """
    from edgec.cli.compress_text import print_compression
    from edgec.cli.data import samples_of_each
    from edgec.commands.compress import CompressOptions, Training, compress_models, jobs_of

    if len(models) > 1 and not shared_pool:
        raise ConfigError(
            f"{len(models)} models are given",
            where="compress",
            hint="add --shared-pool for one pool, or compress one after the other",
        )
    trains = {"epochs": epochs is not None, "augment": augment, "device": device != "auto"}
    refuse_without_effect(
        [
            *(
                Effect(
                    f"--{option}", given, bool(train), "there is nothing to train on", "add --train"
                )
                for option, given in trains.items()
            ),
            Effect("--shared-pool", shared_pool, len(models) > 1, "there is one model only"),
        ]
    )
    options = CompressOptions(
        pool=WeightPoolOptions(
            size=pool_size, group=group, layers=tuple(layers or ()), signed=signed, seed=seed
        ),
        training=Training(epochs or 0, augment, device, seed),
        compilation=CompileOptions(shapes=shapes_of(shape)),
    )
    data = samples_of_each((calibration or (), train or (), evaluation or ()), normalize)
    jobs = jobs_of(models, output, *data)
    with status("compressing") as say:
        results = compress_models(jobs, options, say)
    if json:
        console.print_json([result.to_json() for result in results])
        return
    for result in results:
        print_compression(result, console.out)
    samples = ("--calibration", calibration[0]) if calibration else ()
    console.print_next("edgec", "compile", results[0].output, "--board", "nucleo", *samples)
