"""Terminal output: the two consoles, log and error messages, next commands.

Results go to stdout, all else to stderr.
"""

from __future__ import annotations

import json
import logging
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from edgec.base.errors import EdgecError
from edgec.base.names import printable
from edgec.base.system import command_line

# Without emoji: ":x:" in a tensor's name is no picture.
out = Console(highlight=False, soft_wrap=True, emoji=False)
err = Console(stderr=True, highlight=False, soft_wrap=True, emoji=False)

WIDTH_OF_FILES = 160
"""Characters of a line where nobody can widen the terminal: files, logs, pipes, CI."""


_verbose = False


def is_verbose() -> bool:
    """Whether the user asked for everything (`-v`); otherwise a command fits a screen."""
    return _verbose


class _Messages(logging.Handler):
    """Log records in the form of the other messages on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        style = "bold yellow" if record.levelno >= logging.WARNING else "dim"
        text = safe_lines(record.getMessage())
        print_prose(f"[{style}]{record.levelname.lower()}:[/] {text}", err)


def set_up_logging(verbose: bool) -> None:
    """Log warnings (or, if `verbose`, everything) to stderr; with it commands show everything."""
    global _verbose  # noqa: PLW0603  (the one switch of the command line)
    _verbose = verbose
    for stream in (out, err):
        if not stream.is_terminal:
            stream.width = WIDTH_OF_FILES
    logging.basicConfig(level=logging.WARNING, handlers=[_Messages()], force=True)
    logging.getLogger("edgec").setLevel(logging.DEBUG if verbose else logging.WARNING)


def print_prose(text: str, stream: Console | None = None) -> None:
    """Sentences, as markup: in a terminal no word of them is broken."""
    found = stream or out
    found.print(text, soft_wrap=not found.is_terminal)


_LABELS = 10
"""Characters of the labels of an answer."""


def print_labelled(label: str, text: str, stream: Console | None = None) -> None:
    """A line of an answer, its text as markup, after a label such as "speed:"."""
    found = stream or out
    if not found.is_terminal:
        found.print(f"{label + ':':<{_LABELS}}{text}")
        return
    lines = Text.from_markup(text).wrap(found, found.width - _LABELS, overflow="fold")
    for number, line in enumerate(lines):
        line.rstrip()
        found.print(Text(f"{f'{label}: ' if number == 0 else '':<{_LABELS}}") + line)


def print_json(data: Any) -> None:
    """One JSON document on stdout."""
    out.print(json.dumps(data, indent=2), markup=False)


def print_json_error(error: EdgecError) -> None:
    """The error as one JSON object on stdout, where a program expects the result."""
    print_json(error.to_json())


def print_error(error: EdgecError) -> None:
    """Print an error on stderr: place, message and hint."""
    where = f"[bold]{safe(error.where)}[/]: " if error.where else ""
    print_prose(f"[bold red]error:[/] {where}{safe_lines(error.what)}", err)
    if error.hint:
        print_prose(f"[cyan]hint:[/] {safe_lines(error.hint)}", err)


def print_next(*words: object, note: str = "") -> None:
    """The command that a user is likely to want now, quoted for the shell, and a note on it."""
    command = command_line(words)
    out.print(f"\nnext: [bold green]{safe(command)}[/]{safe(f'    ({note})' if note else '')}")


def safe(text: str) -> str:
    """Text from a model or file, fit for a line of a terminal: no markup, nothing but one line."""
    return escape(printable(text))


def safe_lines(text: str) -> str:
    """A message of several lines; all but the first are indented, so that none looks like ours."""
    first, *rest = printable(text, lines=True).split("\n")
    indented = (line if line.startswith(" ") or not line else f"  {line}" for line in rest)
    return escape("\n".join((first, *indented)))


def shortened(text: str, limit: int = 400) -> str:
    """A name that is longer than any that people give, cut to its end, which tells the most."""
    return text if len(text) <= limit else f"…{text[-limit + 1 :]}"


def count(number: float) -> str:
    """Thousands separated by commas."""
    return f"{number:,.0f}"
