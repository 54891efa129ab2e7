"""`edgec check`: the figures of a build folder, and whether they are worse than committed ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from edgec.base.errors import ConfigError, FigureValues, RegressionError
from edgec.base.samples import SampleFile
from edgec.profile.compare import compare
from edgec.report.figure_changes import FigureChange, Tolerance, changes
from edgec.report.figures import FigureFile, Figures
from edgec.report.model import Report
from edgec.workflow.evaluation import evaluate
from edgec.workflow.session import Progress


def measured(
    folder: Path,
    data: SampleFile | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> FigureFile:
    """Measure a finished build.

    Args:
        folder: with `report.json` and, where it was built, the firmware.
        data: inputs and labels for the accuracy; None: it is not measured.
        limit: use only this many samples, from the start.
        progress: told (samples done, samples).

    Raises:
        ConfigError: the folder holds no build, or the data do not fit.
        SimulationError: the firmware could not be run.
    """
    report = Report.read(folder)
    accuracy = evaluate(folder, data, limit=limit, progress=progress) if data is not None else None
    (found,) = compare([folder])
    qualities = [layer.sqnr_db for layer in report.layers if layer.sqnr_db is not None]
    figures = Figures(
        flash_bytes=found.flash_bytes,
        ram_bytes=found.ram_bytes,
        weight_bytes=report.memory.weight_bytes,
        arena_bytes=report.memory.arena_bytes,
        cycles=found.cycles,
        instructions=None if found.cycles is not None else found.instructions,
        macs=report.macs,
        accuracy=None if accuracy is None else round(accuracy.accuracy, 6),
        sqnr_db=round(qualities[-1], 2) if qualities else None,
    )
    samples = 0 if accuracy is None else accuracy.n
    return FigureFile.of(report.model, report.board.name, samples, figures)


def committed_figures(path: Path, *, update: bool) -> FigureFile | None:
    """The committed figures; None where they are about to be written and cannot be read.

    Args:
        path: the file.
        update: it will be written anew.

    Raises:
        ConfigError: there is no such file, or it cannot be read.
    """
    try:
        return FigureFile.read(path)
    except ConfigError:
        if update:
            return None
        raise


def compared(
    committed: FigureFile | None,
    found: FigureFile,
    tolerance: Tolerance,
    path: Path,
    *,
    update: bool,
) -> tuple[FigureChange, ...]:
    """Compare the figures of a new build with the committed ones.

    Args:
        committed: they; None where there are none.
        found: the figures of a new build.
        tolerance: how much worse they may be.
        path: the file of the committed figures.
        update: it will be written anew; what cannot be compared is new then.

    Raises:
        ConfigError: they are of different boards, or their accuracies of different data.
    """
    odd = "" if committed is None else _incomparable(committed, found)
    if odd and not update:
        raise ConfigError(odd, where=str(path), hint="`edgec check --update` writes them anew")
    before = Figures() if committed is None or odd else committed.figures
    return changes(before, found.figures, tolerance)


def _incomparable(committed: FigureFile, found: FigureFile) -> str:
    """Reason why two sets of figures cannot be compared; empty where they can."""
    if committed.board != found.board:
        return f"the figures are of the board {committed.board}, this build is for {found.board}"
    before, now = committed.samples, found.samples
    if before and now and before != now:
        return f"the accuracy is of {before:,} samples, here {now:,} are measured"
    return ""


def refuse_regressions(rows: Sequence[FigureChange], where: Path) -> None:
    """Fail where a figure is worse than the tolerance allows.

    Raises:
        RegressionError: names every such figure.
    """
    bad = [each for each in rows if each.fails]
    if not bad:
        return
    raise RegressionError(
        "worse than the committed figures: " + "; ".join(map(_said, bad)),
        tuple(
            FigureValues(each.kind.name, each.committed, each.found, each.allowed) for each in bad
        ),
        where=str(where),
        hint="if it is meant, `edgec check --update` and commit the file",
    )


def _said(bad: FigureChange) -> str:
    title, committed, found, difference, allowed, _ = bad.texts
    if bad.state == "missing":
        return f"{title} was {committed} and is not measured any more"
    return f"{title} {committed} -> {found}, {difference}, allowed {allowed}"
