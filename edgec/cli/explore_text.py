"""Texts of `edgec explore`: the live table, the front, and the record of `--json`."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Any, Self

from rich import live
from rich.console import Console, Group
from rich.text import Text

from edgec.explore.chosen import commands_of
from edgec.explore.page import cells_of
from edgec.explore.run import State
from edgec.report import console
from edgec.report.tables import Table, table

if TYPE_CHECKING:
    from pathlib import Path

    from edgec.explore.chosen import Chosen

_ROWS = 16
"""Points of the front that a table shows, so that it has 24 lines at most."""
_EVERY_S = 5.0


class Live:
    """The front so far, on a terminal; a line now and then everywhere else."""

    def __init__(self, to: Console) -> None:
        self._to = to
        self._live = live.Live(console=to, transient=True) if to.is_terminal else None
        self._last, self._done = 0.0, -1

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def say(self, text: str, done: int = 0, total: int = 0) -> None:  # noqa: ARG002  (`Progress`)
        """Show what is being done before trials run."""
        if self._live is not None:
            self._live.update(Text(text))
        else:
            self._to.print(console.safe(text))

    def show(self, state: State) -> None:
        """Show the trials so far."""
        now = time.monotonic()
        if self._live is not None:
            self._live.update(_so_far(state))
        elif len(state.points) != self._done and now - self._last >= _EVERY_S:
            self._last, self._done = now, len(state.points)
            self._to.print(console.safe(_count(state)))


def _count(state: State) -> str:
    refused = sum(point.figures is None for point in state.points)
    text = f"{len(state.points)} of {state.place.total} trials"
    text += f", {refused} refused" if refused else ""
    text += f", {state.lost} run again" if state.lost else ""
    return f"{text}; {len(state.front)} on the front"


def _so_far(state: State) -> Group:
    return Group(Text(_count(state)), _table(state))


def _rows(state: State) -> list[tuple[object, ...]]:
    return [(point.number, *cells_of(point, state.task)) for point in state.front[:_ROWS]]


def print_front(state: State, chosen: Chosen | None, page: Path, out: Console) -> None:
    """Print the front, what was used for what, and the chosen point."""
    out.print(console.safe(_count(state)))
    out.print(_table(state))
    if len(state.front) > _ROWS:
        out.print(f"and {len(state.front) - _ROWS} more, in the page")
    console.print_prose(console.safe(state.task.note), out)
    out.print(f"page: {console.safe(str(page))}")
    if chosen is None:
        return
    out.print(f"chosen: trial {chosen.point.number}, {console.safe(str(chosen.project))}")
    test = chosen.test
    if test is not None and chosen.float_share is not None:
        out.print(
            f"test data, looked at once: accuracy {test.accuracy:.2%} of {test.n} samples, "
            f"float {chosen.float_share:.2%}"
        )
    console.print_next("edgec", "compile", "--project", chosen.project)


def _table(state: State) -> Table:
    """The builds that none beats, a row each."""
    rows = [(str(number), *map(str, cells)) for number, *cells in _rows(state)]
    headings = (f">{each.heading}" for each in state.task.figures.all)
    return table("", (">trial", *headings, "setting"), rows)


def state_json(state: State, chosen: Chosen | None) -> dict[str, Any]:
    """The search as plain JSON data."""
    front = {point.number for point in state.front}
    trials = [
        {
            **dataclasses.asdict(point),
            "front": point.number in front,
            "commands": commands_of(state.task, point),
        }
        for point in state.points
    ]
    found: dict[str, Any] = {
        "samples": state.task.note,
        "float_share": state.task.float_share,
        "labelled": state.task.labelled,
        "run_again": state.lost,
        "trials": trials,
        "chosen": None,
    }
    if chosen is not None:
        test = chosen.test
        found["chosen"] = {
            "number": chosen.point.number,
            "project": str(chosen.project),
            "test": None if test is None else test.to_json(),
            "float_share": chosen.float_share,
        }
    return found
