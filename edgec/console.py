"""Terminal output: tables, progress, error messages.  Results go to stdout, all else to stderr."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from rich.console import Console
from rich.logging import RichHandler
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from edgec.errors import EdgecError

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


class Advance(Protocol):
    """Reports that `done` of `total` pieces of work are finished."""

    def __call__(self, done: int, total: int) -> None:
        """Show the progress."""


def set_up_logging(verbose: bool) -> None:
    """Log warnings (or, if `verbose`, everything) to stderr."""
    handler = RichHandler(console=err, show_time=False, show_path=False, markup=False)
    # Nothing is shortened where nobody can widen the terminal: logs, pipes, CI.
    for stream in (out, err):
        if not stream.is_terminal:
            stream.width = 160
    logging.basicConfig(level=logging.WARNING, format="%(message)s", handlers=[handler], force=True)
    logging.getLogger("edgec").setLevel(logging.DEBUG if verbose else logging.WARNING)


def print_json(data: Any) -> None:
    """One JSON document on stdout."""
    out.print(json.dumps(data, indent=2), markup=False)


def print_error(error: EdgecError) -> None:
    """What, where and what to do about it, on stderr."""
    where = f"[bold]{safe(error.where)}[/]: " if error.where else ""
    err.print(f"[bold red]error:[/] {where}{safe(error.what)}")
    if error.hint:
        err.print(f"[cyan]hint:[/] {safe(error.hint)}")


def print_next(command: str) -> None:
    """The command that a user is likely to want now."""
    out.print(f"\nnext: [bold green]{safe(command)}[/]")


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
def status(text: str) -> Iterator[Callable[[str], None]]:
    """A line on stderr that says what is being done (none when it is not a terminal)."""
    if not err.is_terminal:
        yield lambda _text: None
        return
    with err.status(text) as shown:
        yield shown.update


@contextmanager
def progress(text: str) -> Iterator[Advance]:
    """A progress bar on stderr (none when it is not a terminal)."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=err,
        transient=True,
        disable=not err.is_terminal,
    )
    with bar:
        task = bar.add_task(text, total=None)

        def advance(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        yield advance
