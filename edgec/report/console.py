"""Terminal output: tables, progress, error messages.  Results go to stdout, all else to stderr."""

from __future__ import annotations

import json
import logging
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from edgec.base.errors import EdgecError

# Without emoji: ":x:" in a tensor's name is no picture.
out = Console(highlight=False, soft_wrap=True, emoji=False)
err = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)


class Advance(Protocol):
    """Reports that `done` of `total` pieces of work are finished."""

    def __call__(self, done: int, total: int) -> None:
        """Show the progress."""


class _Messages(logging.Handler):
    """Log records in the form of the other messages on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        style = "bold yellow" if record.levelno >= logging.WARNING else "dim"
        err.print(f"[{style}]{record.levelname.lower()}:[/] {safe(record.getMessage())}")


class Say(Protocol):
    """Shows what is being done; with `total`, how much of it is finished."""

    def __call__(self, text: str, done: int = 0, total: int = 0) -> None:
        """Show `text`, and `done` of `total` pieces if `total` is not 0."""


def set_up_logging(verbose: bool) -> None:
    """Log warnings (or, if `verbose`, everything) to stderr."""
    # Nothing is shortened where nobody can widen the terminal: logs, pipes, CI.
    for stream in (out, err):
        if not stream.is_terminal:
            stream.width = 160
    logging.basicConfig(level=logging.WARNING, handlers=[_Messages()], force=True)
    logging.getLogger("edgec").setLevel(logging.DEBUG if verbose else logging.WARNING)


def print_json(data: Any) -> None:
    """One JSON document on stdout."""
    out.print(json.dumps(data, indent=2), markup=False)


def print_json_error(error: EdgecError) -> None:
    """The error as one JSON object on stdout, where a program expects the result."""
    print_json(error.to_json())


def print_error(error: EdgecError) -> None:
    """What, where and what to do about it, on stderr."""
    where = f"[bold]{safe(error.where)}[/]: " if error.where else ""
    err.print(f"[bold red]error:[/] {where}{safe(error.what)}")
    if error.hint:
        err.print(f"[cyan]hint:[/] {safe(error.hint)}")


def print_next(*words: object, note: str = "") -> None:
    """The command that a user is likely to want now, quoted for the shell, and a note on it."""
    command = shlex.join(str(word) for word in words)
    out.print(f"\nnext: [bold green]{safe(command)}[/]{safe(f'    ({note})' if note else '')}")


def safe(text: str) -> str:
    """Text from a model or file, fit for a terminal: no markup, no control characters.

    Escape sequences and bidirectional marks in a tensor's name must not reach the terminal.
    """
    shown = (c if c == "\n" or c.isprintable() else repr(c)[1:-1] for c in text)
    return escape("".join(shown))


def shortened(text: str, limit: int = 60) -> str:
    """A long name, cut to its end, which tells more than its start."""
    return text if len(text) <= limit else f"…{text[-limit + 1 :]}"


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    """A table; columns whose header starts with ">" are right-aligned numbers."""
    result = Table(title=safe(title), title_justify="left", header_style="bold")
    for column in columns:
        number = column.startswith(">")
        result.add_column(
            column.removeprefix(">"),
            justify="right" if number else "left",
            no_wrap=number,
            overflow="ellipsis",
        )
    for row in rows:
        result.add_row(*(safe("" if cell is None else str(cell)) for cell in row))
    return result


def count(number: float) -> str:
    """Thousands separated by commas."""
    return f"{number:,.0f}"


@contextmanager
def status(text: str) -> Iterator[Say]:
    """What is being done, and a bar where that is known, on stderr (only on a terminal)."""
    with _bar() as bar:
        task = bar.add_task(text, total=None, count="")

        def say(text: str, done: int = 0, total: int = 0) -> None:
            count = f"{done} of {total}" if total else ""
            bar.update(task, description=text, completed=done, total=total or None, count=count)

        yield say


@contextmanager
def progress(text: str) -> Iterator[Advance]:
    """A progress bar on stderr (only on a terminal)."""
    with status(text) as say:
        yield lambda done, total: say(text, done, total)


def _bar() -> Progress:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=err, transient=True, disable=not err.is_terminal)
