"""Table and lines that `edgec tune` prints."""

from __future__ import annotations

from statistics import median

from rich.console import Console

from edgec.commands.tune import Tuning
from edgec.commands.tune_search import CLOSE, LayerTuning
from edgec.report.console import print_prose, safe
from edgec.report.tables import table
from edgec.target.board import Board

_MOST = 12
"""Layers that are shown: those that gain most."""
_COLUMNS = ("layer", "kernel by estimate", "measured fastest", ">estimate", ">before", ">after")


def print_tuning(found: Tuning, board: Board, out: Console) -> None:
    """Print what layers gained, on one screen.

    Args:
        found: what was measured.
        board: the target.
        out: where to print.
    """
    changed = sorted(
        (each for each in found.layers if each.chosen != each.estimated),
        key=lambda each: each.after - each.before,
    )
    if changed:
        rows = [_row(each) for each in changed[:_MOST]]
        title = f"Layers of {safe(found.model)} on {safe(board.title)} with other kernels"
        out.print(table(title, _COLUMNS, rows))
    for line in _lines(found, board, len(changed)):
        print_prose(line, out)


def _row(layer: LayerTuning) -> tuple[str, ...]:
    more = f" and {len(layer.names) - 1} equal" if len(layer.names) > 1 else ""
    estimate = "-" if layer.estimate is None else f"{layer.estimate:,}"
    numbers = (estimate, f"{layer.before:,}", f"{layer.after:,}")
    return (f"{safe(layer.names[0])}{more}", layer.estimated, layer.chosen, *numbers)


def _lines(found: Tuning, board: Board, changed: int) -> list[str]:
    count = sum(len(each.names) for each in found.layers)
    if found.file is None:
        return [f"no layer has a choice: each of {found.others} has one kernel on this target"]
    more = changed - _MOST
    saved = found.before - found.after
    ms = 1e3 / board.clock_hz
    lines = [f"and {more} more layers with other kernels (--json has all)"] if more > 0 else []
    lines += [
        f"run: {found.before:,} cycles before, {found.after:,} after: {saved:,} saved "
        f"({saved / found.before:.1%}, {found.before * ms:.3f} to {found.after * ms:.3f} ms)",
        f"{count} layers have a choice, {found.others} have one kernel; {found.builds} builds; "
        f"{found.far} by estimates and {found.far_tuned} as tuned take over {CLOSE:.0%} more "
        "than the least that was seen",
    ]
    if found.lengths:
        each = ", ".join(map(str, found.lengths))
        lines.append(f"cycles are the mean of runs of {each} tokens")
    errors = [abs(x.estimate / x.before - 1) for x in found.layers if x.estimate and x.before]
    if errors:
        lines.append(f"estimates of layers are off by {median(errors):.1%} in the median")
    known = sum(each.known for each in found.layers)
    if known:
        lines.append(f"{known} kinds of layers were in the file already (--again measures them)")
    lines.append(f"written: {safe(str(found.file))}; edgec compile takes it from there")
    return lines
