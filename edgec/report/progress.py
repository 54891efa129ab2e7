"""Progress on stderr: a bar on a terminal, plain lines everywhere else.

Lines come when a new stage begins and every few seconds while it lasts, so that a log of CI shows
that a command lives, and a pipe is not flooded.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from edgec.report import console

INTERVAL_S = 5.0
"""Seconds between two lines on the same stage."""


class Advance(Protocol):
    """Reports that `done` of `total` pieces of work are finished."""

    def __call__(self, done: int, total: int) -> None:
        """Show the progress."""


class Say(Protocol):
    """Shows what is being done; with `total`, how much of it is finished."""

    def __call__(self, text: str, done: int = 0, total: int = 0) -> None:
        """Show `text`, and `done` of `total` pieces if `total` is not 0."""


@contextmanager
def status(text: str) -> Iterator[Say]:
    """Show what is being done, at first `text`, and how far it is where that is known."""
    with _bar(text) if console.err.is_terminal else _lines(text) as say:
        yield say


@contextmanager
def progress(text: str) -> Iterator[Advance]:
    """Show how much of one piece of work is done."""
    with status(text) as say:
        yield lambda done, total: say(text, done, total)


@contextmanager
def _bar(text: str) -> Iterator[Say]:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console.err, transient=True) as bar:
        task = bar.add_task(console.safe(text), total=None, count="")

        def say(text: str, done: int = 0, total: int = 0) -> None:
            count = f"{done} of {total}" if total else ""
            bar.update(
                task,
                description=console.safe(text),
                completed=done,
                total=total or None,
                count=count,
            )

        yield say


@contextmanager
def _lines(text: str) -> Iterator[Say]:
    lines = _Lines(text)
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(INTERVAL_S):
            lines.remind()

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield lines.say
    finally:
        ended.set()
        thread.join()


class _Lines:
    """Prints a line for each new stage, and one when it is asked how far the stage is."""

    def __init__(self, text: str) -> None:
        self._start = time.monotonic()
        self._shown: set[str] = set()
        self._line = text
        self.say(text)

    def say(self, text: str, done: int = 0, total: int = 0) -> None:
        self._line = f"{text}: {done} of {total}" if total else text
        if text not in self._shown:
            self._shown.add(text)
            self._print(text)

    def remind(self) -> None:
        self._print(f"{self._line} ({time.monotonic() - self._start:.0f} s)")

    def _print(self, text: str) -> None:
        console.err.print(console.safe(text))
