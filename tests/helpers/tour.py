"""The tour of the documents, done in a terminal: what each of its commands shows, and its time."""

from __future__ import annotations

import resource
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from documents import DOCS, commands
from places import REPOSITORY
from screens import Screen, on_screen

TOUR = DOCS / "tour.md"


@dataclass(frozen=True, slots=True)
class Step:
    """One command.

    Attributes:
        words: the command line after `edgec`.
        screen: what it left on the terminal.
        seconds: from its start to its end.
        busy_s: processor time of it and of the programs that it started, in seconds.
    """

    words: tuple[str, ...]
    screen: Screen
    seconds: float
    busy_s: float


def step(words: tuple[str, ...], folder: Path, columns: int, rows: int) -> Step:
    """Run one command in a terminal of this size, with caches of its own below `folder`."""
    caches = {"XDG_CACHE_HOME": str(folder / "cache"), "EDGEC_CACHE_DIR": str(folder / "cache")}
    begin, before = time.monotonic(), _busy_s()
    screen = on_screen(words, folder, columns=columns, rows=rows, environment=caches)
    return Step(words, screen, time.monotonic() - begin, _busy_s() - before)


def tour(folder: Path, columns: int, rows: int) -> Iterator[Step]:
    """Do the commands of the tour in their order, in a folder that gets the examples."""
    shutil.copytree(REPOSITORY / "examples", folder / "examples", dirs_exist_ok=True)
    for program, *words in commands(TOUR):
        if program == "edgec":
            yield step(tuple(words), folder, columns, rows)


def faults(done: Step, columns: int, rows: int) -> list[str]:
    """The bounds that a command breaks: it succeeds, and its lines fit the terminal."""
    found = []
    if done.screen.code != 0:
        found.append(f"exit code {done.screen.code}")
    if len(done.screen.lines) > rows:
        found.append(f"{len(done.screen.lines)} lines on a screen of {rows}")
    if max(map(len, done.screen.lines), default=0) > columns:
        found.append(f"wider than {columns} columns")
    return found


def _busy_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
