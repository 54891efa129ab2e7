"""The command `edgec explore`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from edgec.base.errors import ConfigError, Effect, refuse_without_effect
from edgec.cli.help import INPUT, OUTPUT, SEARCH
from edgec.cli.inputs import shapes_of, values_of
from edgec.cli.options import (
    DATA_FORMATS,
    OUT,
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
    from edgec.explore.run import Asked


def explore(
    models: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[MODEL...]", help="Model, or several of one task: .onnx, .tflite."),
    ] = None,
    board: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BOARD",
            help="Board (edgec boards) or its .toml file; repeat it to compare several.",
            autocompletion=board_names,
            rich_help_panel=INPUT,
        ),
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(help=f"Typical inputs: {DATA_FORMATS}", rich_help_panel=INPUT),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Samples that judge trials, with labels or without (then by the float model's "
            "decisions). Default: every fourth sample of the calibration data.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option(
            help="With --select: samples with labels that judge the chosen build, once.",
            rich_help_panel=INPUT,
        ),
    ] = None,
    normalize: NormalizeOption = None,
    shape: Shapes = None,
    state: StateOption = None,
    value: ValueOption = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KNOB=VALUE/VALUE",
            help="Values to try of precision, observer, effort, pool, optimize, rows, placement or "
            "fit; one value fixes it. Repeatable.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    fit: Annotated[
        str | None,
        typer.Option(
            metavar="flash=64K,ram=32K,ms=20,drop=1",
            help="Limits that builds must keep; of boards with Linux mi (millions of "
            "instructions), weights, arena, drop.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    trials: Annotated[
        int, typer.Option(min=1, help="Trials of the study as a whole.", rich_help_panel=SEARCH)
    ] = 60,
    seed: Annotated[int, typer.Option(help="Seed of all proposals.", rich_help_panel=SEARCH)] = 0,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1, help="Builds at the same time (default: all cores).", rich_help_panel=SEARCH
        ),
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL",
            help="Where trials are kept: a journal file, sqlite:///FILE or a database "
            "(default: study.journal in the output folder). The same command continues.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    study: Annotated[
        str, typer.Option(help="Name of the study in the storage.", rich_help_panel=SEARCH)
    ] = "edgec",
    worker: Annotated[
        bool,
        typer.Option(
            "--worker",
            help="Only work on the study that --storage holds, on this machine.",
            rich_help_panel=SEARCH,
        ),
    ] = False,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="tcp://HOST:8786",
            help="Let the workers of a Dask cluster build.",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    select: Annotated[
        str | None,
        typer.Option(
            metavar="RULE",
            help='Build one point of the front and write its edgec.toml: "drop<=0.5 smallest '
            'flash"; figures are drop, ms, flash, ram, uj; with Linux drop, mi, weights, arena.',
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            *OUT, help="Output folder (default: build/explore-<model>).", rich_help_panel=OUTPUT
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Try builds of a network, and show those that none beats in accuracy, time, flash and RAM.

    On boards with Linux: in accuracy, instructions, weights and arena.

    Each trial is a real build that is measured.  Trial 0 is the default one; Optuna proposes the
    others.  The output folder gets explore.html, the front as a picture, and with --select an
    edgec.toml.
    """
    from edgec.explore.installed import check_engines

    check_engines(dask=scheduler is not None)
    if worker:
        _work(bool(models or board or calibration), storage, study, workers)
        return
    asked = _asked(models, board, calibration, data, normalize, out, storage)
    if test is not None:
        why = "only a chosen build is judged on it"
        refuse_without_effect([Effect("--test", True, select is not None, why, "add --select")])
        from edgec.base.given_files import check_sample_file

        check_sample_file(test)
    from dataclasses import replace

    from edgec.base.output_file import check_writable
    from edgec.cli.data import sample_file
    from edgec.cli.explore_text import Live, print_front, state_json
    from edgec.explore.chosen import keep
    from edgec.explore.front import Choice
    from edgec.explore.page import write_explore_html
    from edgec.explore.run import explore as search
    from edgec.explore.run import figures_of

    rule = None if select is None else Choice.parse(select, figures_of(asked))
    asked = replace(
        asked,
        vary=tuple(vary or ()),
        fit=fit,
        trials=trials,
        seed=seed,
        study=study,
        workers=workers,
        scheduler=scheduler,
        shapes=shapes_of(shape),
        state=tuple(state or ()),
        values=values_of(value),
    )
    page = asked.out / "explore.html"
    check_writable(page)
    with Live(console.err) as live:
        found = search(asked, live.say, live.show)
    write_explore_html(found, page)
    chosen = None
    if rule is not None:
        with status("selecting") as say:
            samples = None if test is None else sample_file(test, normalize)
            chosen = keep(found.task, rule.of(found.front), asked.out, samples, say)
    if json:
        console.print_json(state_json(found, chosen))
        return
    print_front(found, chosen, page, console.out)


def _asked(
    models: list[Path] | None,
    board: list[str] | None,
    calibration: Path | None,
    data: Path | None,
    normalize: str | None,
    out: Path | None,
    storage: str | None,
) -> Asked:
    """The search, without the options that are taken as they are.

    Raises:
        ConfigError: something is missing that every search needs.
    """
    from edgec.explore.run import Asked

    if not models or not board or calibration is None:
        given = {"MODEL": models, "--board": board, "--calibration": calibration}
        missing = ", ".join(name for name, each in given.items() if not each)
        hint = "edgec explore MODEL --board BOARD --calibration FILE"
        raise ConfigError("a search needs them", where=f"explore: {missing}", hint=hint)
    folder = Path("build", f"explore-{models[0].stem}") if out is None else out
    return Asked(tuple(models), tuple(board), calibration, folder, data, normalize, storage=storage)


def _work(given: bool, storage: str | None, study: str, workers: int | None) -> None:
    """Work for a study that another process began: `--worker`."""
    if storage is None or given:
        raise ConfigError(
            "takes everything from the study" if given else "needs the storage of a study",
            where="--worker",
            hint="edgec explore --worker --storage FILE|URL",
        )
    from edgec.explore.run import help_out

    with status("working") as say:
        done = help_out(storage, study, workers, say)
    console.out.print(f"the study has {done} finished trials")
