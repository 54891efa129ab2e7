"""`report` and `compile --html`: one page on a finished build, from its folder and samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from edgec.base.errors import ConfigError, EdgecError
from edgec.base.options import Progress, no_progress
from edgec.base.samples import SampleFile
from edgec.profile.compile_html import More, write_compile_html
from edgec.profile.compile_rows import Tile, Work, next_commands
from edgec.profile.instructions import count_instructions
from edgec.profile.origins import origins_of
from edgec.profile.run import profile
from edgec.profile.types import Profile
from edgec.report.model import Report
from edgec.workflow.evaluation import evaluate_samples, last_evaluation
from edgec.workflow.histograms import histograms
from edgec.workflow.session import places_of
from edgec.workflow.validation import Validation, validate

_ESTIMATE = "Cycles are an estimate from the firmware: the tab Profile has the details."
_VALIDATED = 10
"""Samples of a validation, layer by layer."""
_NOTHING = More()
_NO_PLACE = (
    "This computer cannot run the build: that takes firmware and an emulator of its board, or C "
    "for this computer."
)
_COUNT = "Instructions were counted in an emulator; there is no model of the time of this core."


def write_page(
    folder: Path,
    path: Path,
    samples: SampleFile | None = None,
    labelled: Sequence[str] = (),
    progress: Progress = no_progress,
    more: More = _NOTHING,
    limit: int | None = None,
) -> None:
    """Write the page of a build.

    Args:
        folder: build folder.
        path: the .html file.
        samples: data for histograms, of calibration for one; None: they are of pseudo-random
            inputs.
        labelled: words that name samples with labels in commands; empty: none are known.
        progress: told what is being done.
        more: what was found out about it before.
        limit: use only this many samples, from the start; None: as many as take some seconds.

    Raises:
        ConfigError: no build, samples that do not fit, or the file cannot be written.
    """
    report = Report.read(folder)

    def counted(done: int, total: int) -> None:
        progress("counting codes", done, total)

    found = histograms(folder, samples, counted, limit)
    progress("profiling")
    work, profiled = _work(folder, report)
    progress("drawing the page")
    has_cycles = profiled is not None
    commands = next_commands(folder, report, labelled, has_cycles=has_cycles)
    shown = replace(more, profiled=profiled, last=last_evaluation(folder, report))
    write_compile_html(path, report, work, found, origins_of(folder, report), commands, shown)


def write_report(
    folder: Path,
    path: Path,
    data: SampleFile | None = None,
    on: str | None = None,
    limit: int | None = None,
    labelled: Sequence[str] = (),
    progress: Progress = no_progress,
) -> None:
    """Write the page of a build after a validation and, with labels, an evaluation.

    Args:
        folder: build folder.
        path: the .html file.
        data: samples, with labels or without; None: pseudo-random inputs.
        on: "host" or "emulator"; None: the first of them that can run the build.
        limit: use only this many samples, from the start; None: all for accuracy.
        labelled: words that name `data` in commands.
        progress: told what is being done.

    Raises:
        ConfigError: no build, samples that do not fit, or the file cannot be written.
        SimulationError: the target does not run.
    """
    place = on or next(iter(places_of(folder)), None)
    more = More(unmeasured=_NO_PLACE)
    if place is not None:

        def tell(what: str) -> Callable[[int, int], None]:
            return lambda done, total: progress(what, done, total)

        few = None if data is None else min(limit or _VALIDATED, _VALIDATED)
        validated = validate(folder, data, place, few, tell("validating"))
        why = _why_no_accuracy(validated, data)
        more = More(validated=validated, unmeasured=why)
        if data is not None and not why:
            found = evaluate_samples(folder, data, place, limit, tell("evaluating"))
            more = replace(more, evaluated=found)
    write_page(folder, path, data, labelled, progress, more, limit)


def _why_no_accuracy(validated: Validation, data: SampleFile | None) -> str:
    """The reason why samples tell no accuracy; "" where they do: they have labels of use."""
    if data is None:
        return ""
    if all(output.agreement is None for output in validated.outputs):
        return "No single output of the model has scores for classes, or the number of one."
    if all(output.accuracy is None for output in validated.outputs):
        return f"{data.path.name} holds no labels."
    return ""


def _work(folder: Path, report: Report) -> tuple[Work, Profile | None]:
    """Cycles or instructions of the layers, or why there are none; the profile, if there is one."""
    try:
        if report.board.linux is not None:
            return _instructions(folder), None
        found = profile(folder)
    except EdgecError as error:
        # Messages about a folder leave out its name.
        why = f"it {error.what}" if isinstance(error, ConfigError) else error.what
        return Work("cycles", (), f"There are no cycles: {why}."), None
    per_mac = found.cycles_per_mac
    cycles = found.total_cycles
    tiles = (
        Tile("time", f"{found.time_ms:.2f} ms", f"estimate at {found.clock_mhz:g} MHz"),
        Tile("cycles", f"{cycles:,}", "" if per_mac is None else f"{per_mac:.2f} per MAC"),
    )
    layers = tuple(e.counts.cycles for e in found.layers)
    return Work("cycles", layers, _ESTIMATE, tiles), found


def _instructions(folder: Path) -> Work:
    found = count_instructions(folder)
    layers = tuple(layer.counts.instructions for layer in found.layers)
    tile = Tile("instructions", f"{sum(layers):,}", "of all layers")
    return Work("instructions", layers, _COUNT, (tile,))
