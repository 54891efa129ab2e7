"""The command `edgec compress`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from edgec.base.errors import ConfigError, Effect, refuse_without_effect
from edgec.base.options import (
    MAX_ACTIVATION_BITS,
    FewBitsOptions,
    IntegerOptions,
    PoolSharing,
    StatePairs,
    TermsRule,
    WeightBits,
    WeightPoolOptions,
    WeightTypes,
)
from edgec.cli.file_options import QonnxOption, WeightTypesOption
from edgec.cli.inputs import shapes_of, values_of
from edgec.cli.options import (
    DATA_FORMATS,
    OUT,
    RENEW_HELP,
    VIEWS_HELP,
    Json,
    NormalizeOption,
    Shapes,
    StateOption,
    ValueOption,
)
from edgec.cli.values import board_names
from edgec.report import console
from edgec.report.progress import status

if TYPE_CHECKING:
    from edgec.commands.compress_search import MaxDrop

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
    bits: Annotated[
        str | None,
        typer.Option(
            metavar="4|3|2|ternary",
            help="Make weights whole numbers of so few bits, times a scale for each output "
            "channel, in place of a pool (docs/few-bits.md).",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="With --bits: layers whose name matches PATTERN stay in bytes, or in the codes "
            "that they have. Repeatable. The first and the last layer stay in any case, unless "
            "--layers asks for them.",
        ),
    ] = None,
    activation_bits: Annotated[
        int | None,
        typer.Option(
            metavar="1..8",
            help="With --bits, and --calibration or --train: layers with such weights read numbers "
            "of so few bits, whose step errs least on the data and is learned in a training "
            "(default: 8).",
        ),
    ] = None,
    weight_types: WeightTypesOption = None,
    qonnx: QonnxOption = False,
    pool_size: Annotated[
        int | None, typer.Option(help=f"Vectors of the pool (default: {DEFAULTS.size}).")
    ] = None,
    pools: Annotated[
        PoolSharing | None,
        typer.Option(
            help="Layers that share a pool: all, those of equally large images, or none "
            f"(default: {DEFAULTS.sharing.value})."
        ),
    ] = None,
    ratio: Annotated[
        float | None,
        typer.Option(
            metavar="TIMES",
            help="Store at least this many times fewer bytes than in int8, and spend what is left: "
            "vectors of layers where it is worth most become sums of 2 to 4 vectors of the pool.",
        ),
    ] = None,
    terms: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN=NUMBER",
            help="Vectors of the pool, 1 to 4, that are added up to one vector of the layers whose "
            "name matches PATTERN (without PATTERN: of all). Repeatable, the last match holds.",
        ),
    ] = None,
    max_drop: Annotated[
        float | None,
        typer.Option(
            metavar="POINTS",
            help="Find the smallest pools whose accuracy on the samples of --eval is at most this "
            "many percentage points below the float model's.",
        ),
    ] = None,
    board: Annotated[
        str | None,
        typer.Option(
            metavar="BOARD",
            help="With --max-drop: estimate cycles and SRAM on this board (edgec boards).",
            autocompletion=board_names,
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --max-drop: draw what was tried to this page, also if nothing is found.",
        ),
    ] = None,
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
    teacher: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL.onnx",
            help="With --train: learn from this float model, with the same inputs and classes "
            "(default: from the model itself).",
        ),
    ] = None,
    augment: Annotated[
        bool, typer.Option("--augment", help="Mirror and shift training images at random.")
    ] = False,
    views: Annotated[int | None, typer.Option(min=1, help=VIEWS_HELP)] = None,
    renew: Annotated[bool, typer.Option("--renew", help=RENEW_HELP)] = False,
    device: Annotated[str, typer.Option(metavar="auto|cpu|cuda", help="Where to train.")] = "auto",
    devices: Annotated[
        int, typer.Option(help="GPUs that share each batch (with cpu: processes).")
    ] = 1,
    evaluation: Annotated[
        list[Path] | None,
        typer.Option("--eval", help=f"Measure accuracy on samples with labels: {DATA_FORMATS}"),
    ] = None,
    layers: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Compress only the layers whose name matches PATTERN (which may hold * and ?). "
            "Repeatable. Default: every layer for which it saves enough.",
        ),
    ] = None,
    reorder: Annotated[
        bool,
        typer.Option(
            "--reorder/--no-reorder",
            help="Give channels the order in which pools fit best; the network computes the same.",
        ),
    ] = True,
    shared_pool: Annotated[
        bool, typer.Option("--shared-pool", help="Let several models share one pool.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.")] = DEFAULTS.seed,
    normalize: NormalizeOption = None,
    shape: Shapes = None,
    state: StateOption = None,
    value: ValueOption = None,
    json: Json = False,
) -> None:
    """Replace a model's weights by indices into a pool of vectors, or by numbers of few bits.

    A pool makes a model 7 to 10 times smaller than int8, --bits 1.9 to 3.5 times.

    The result is standard ONNX.  Calibration data make it fit what the network computes; with
    training data it is fine-tuned as well (with PyTorch; an interrupted run continues).  With
    --max-drop size, sharing and ratio of the pools are found by the accuracy.
    """
    from edgec.cli.compress_bits import narrow
    from edgec.cli.compress_text import print_compression
    from edgec.cli.data import samples_of_each, words_of
    from edgec.commands.compress import CompressOptions, compress_models
    from edgec.commands.compress_bits import BitsOptions
    from edgec.commands.compress_jobs import jobs_of
    from edgec.commands.training import Training

    if bits is None:
        _check_models(len(models), pools, shared_pool=shared_pool)
    trains = {
        "epochs": epochs is not None,
        "teacher": teacher is not None,
        "augment": augment,
        "views": views is not None,
        "renew": renew,
        "device": device != "auto",
        "devices": devices != 1,
    }
    why = "there is nothing to train on"
    refuse_without_effect(
        Effect(f"--{option}", given, bool(train), why, "add --train")
        for option, given in trains.items()
    )
    how = Training(epochs or 0, augment, device, seed, teacher, devices, views or 0, renew)
    compilation = IntegerOptions(
        shapes=shapes_of(shape),
        state=StatePairs.parse(state or []),
        values=values_of(value),
    )
    data = samples_of_each((calibration or (), train or (), evaluation or ()), normalize)
    samples: tuple[object, ...] = ()
    if calibration:
        samples = ("--calibration", *words_of(calibration[0], normalize))
    pooled_only = {
        "pool-size": pool_size is not None,
        "pools": pools is not None,
        "ratio": ratio is not None,
        "terms": bool(terms),
        "max-drop": max_drop is not None,
        "board": board is not None,
        "html": html is not None,
        "group": group != DEFAULTS.group,
        "signed": signed,
        "no-reorder": not reorder,
        "shared-pool": shared_pool,
    }
    few_bits_only = {
        "--keep": bool(keep),
        "--weight-types": weight_types is not None,
        "--qonnx": qonnx,
        "--activation-bits": activation_bits is not None,
    }
    _check_kind(bits, pooled_only, few_bits_only, count=len(models))
    if bits is not None:
        weights = FewBitsOptions(
            WeightBits.parse(bits),
            tuple(layers or ()),
            tuple(keep or ()),
            seed,
            MAX_ACTIVATION_BITS if activation_bits is None else activation_bits,
        )
        types = weight_types or WeightTypes.INT8
        narrowing = BitsOptions(weights, how, compilation, types, qonnx)
        narrow(models, output, narrowing, data, samples, json=json)
        return
    options = CompressOptions(
        pool=WeightPoolOptions(
            size=DEFAULTS.size if pool_size is None else pool_size,
            group=group,
            layers=tuple(layers or ()),
            sharing=DEFAULTS.sharing if pools is None else pools,
            signed=signed,
            terms=tuple(map(TermsRule.parse, terms or ())),
            ratio=ratio,
            seed=seed,
        ),
        training=how,
        compilation=compilation,
        max_drop=_search(max_drop, pool_size, ratio, pools, board, html),
        reorder=reorder,
    )
    jobs = jobs_of(models, output, *data)
    with status("compressing") as say:
        results = compress_models(jobs, options, say)
    if json:
        console.print_json([result.to_json() for result in results])
        return
    for result in results:
        print_compression(result, console.out)
    if html is not None:
        console.out.print(f"page: {console.safe(str(html))}")
    console.print_next(
        "edgec", "compile", results[0].output, "--board", board or "nucleo", *samples
    )


def _check_kind(
    bits: str | None, pooled: Mapping[str, bool], narrow: Mapping[str, bool], *, count: int
) -> None:
    """Refuse options of pools beside `--bits`, its own without it, and it for several models.

    Raises:
        ConfigError: one of these.
    """
    why = "with --bits there is no pool"
    others = {
        "--keep": "pools are chosen by --layers",
        "--weight-types": "the vectors of a pool are int8",
        "--qonnx": "it has no weight pools",
        "--activation-bits": "of pools it is an option of edgec compile",
    }
    refuse_without_effect(
        [
            *(Effect(f"--{option}", given, bits is None, why) for option, given in pooled.items()),
            *(
                Effect(name, given, bits is not None, others[name])
                for name, given in narrow.items()
            ),
        ]
    )
    if bits is not None and count > 1:
        raise ConfigError(
            f"{count} models are given",
            where="--bits",
            hint="compress one after the other",
        )


def _check_models(count: int, pools: PoolSharing | None, *, shared_pool: bool) -> None:
    """Refuse several models without a word on their pool, and what contradicts one pool for all.

    Raises:
        ConfigError: one of these.
    """
    refuse_without_effect(
        [Effect("--shared-pool", shared_pool, count > 1, "there is one model only")]
    )
    if count > 1 and not shared_pool:
        raise ConfigError(
            f"{count} models are given",
            where="compress",
            hint="add --shared-pool for one pool, or compress one after the other",
        )
    if count > 1 and pools not in (None, PoolSharing.NETWORK):
        raise ConfigError(
            "one pool for several models is one for all of their layers",
            where=f"--shared-pool --pools {pools.value}",
            hint="leave out one of the two",
        )


def _search(
    max_drop: float | None,
    pool_size: int | None,
    ratio: float | None,
    pools: PoolSharing | None,
    board: str | None,
    html: Path | None,
) -> MaxDrop | None:
    """The search that `--max-drop` and the options beside it ask for; None without it.

    Raises:
        ConfigError: an option belongs to a search and there is none, or the other way round.
    """
    from edgec.commands.compress_search import MaxDrop
    from edgec.target.board import load_board

    found, hint = "with --max-drop the size is found", "leave out one of the two"
    is_search = max_drop is not None
    by_accuracy = "with --max-drop the ratio is found"
    no_estimate = "only a search has cycles to estimate"
    no_page = "only a search has a page to write"
    refuse_without_effect(
        [
            Effect("--pool-size", pool_size is not None, not is_search, found, hint),
            Effect("--ratio", ratio is not None, not is_search, by_accuracy, hint),
            Effect("--board", board is not None, is_search, no_estimate, "add --max-drop"),
            Effect("--html", html is not None, is_search, no_page, "add --max-drop"),
        ]
    )
    if max_drop is None:
        return None
    sharing = tuple(PoolSharing) if pools is None else (pools,)
    return MaxDrop(max_drop, sharing, None if board is None else load_board(board), html)
