"""`--help` of a command: options in sections, readable in terminals of any width.

Typer's own tables share the width between five columns; at 80 characters, names and words break.

`PANELS` names the sections, in the order in which they are shown.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text
from typer.core import TyperCommand

from edgec.cli.values import check_given

INPUT = "Input"
QUANTIZATION = "Quantization"
TRAINING = "Training"
TRANSFORMERS = "Transformers"
POOLS = "Weight pools"
OUTPUT = "Output"
PANELS = (INPUT, QUANTIZATION, TRAINING, TRANSFORMERS, POOLS, OUTPUT)


_MOST = 100
"""Longer lines are hard to read."""
_NARROW = 60
"""Terminals below this have names and explanations one above the other."""
_NAMES = 26
"""Names that are longer stand on a line of their own."""
_INDENT = 2
_GAP = 2
_NO_BREAK = "\N{NO-BREAK SPACE}"
OTHERS = "Other options"
_FEWEST = 4
"""Commands with fewer sections than this have one."""


class ReadableCommand(TyperCommand):
    """A command whose `--help` has a section for each panel of its options.

    What it does not take of the command line it says in edgec's words.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line.

        Raises:
            UsageError: a choice that does not exist, or no number where one is needed.
        """
        words = list(args)
        try:
            found: list[str] = super().parse_args(ctx, args)
        except Exception as error:
            # Which class it is depends on the version of typer, which names no command in some.
            if getattr(error, "ctx", ctx) is None:
                error.ctx = ctx  # type: ignore[attr-defined]
            name = getattr(getattr(error, "param", None), "name", None)
            if name is not None and self.callback is not None:
                check_given(self.callback, name, words)
            raise
        return found

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  (typer's interface)
        """Print usage, what the command does, and its options."""
        console = Console(highlight=False, soft_wrap=True, emoji=False)
        width = max(min(console.width, _MOST), 20)
        usage = " ".join(self.get_usage(ctx).split())
        for line in _wrapped(usage, width, "       "):
            console.print(Text(line))
        for paragraph in inspect.cleandoc(self.help or "").split("\n\n"):
            console.print()
            for line in _wrapped(" ".join(paragraph.split()), width):
                console.print(Text(line))
        for title, records in sections(self, ctx).items():
            console.print()
            console.print(Text(f"{title}:", style="bold"))
            for names, explanation in records:
                for text in _option(names, explanation, width):
                    console.print(text)


def sections(command: TyperCommand, ctx: Any) -> dict[str, list[tuple[str, str]]]:
    """Names and explanation of each option and argument, by the title of their panel.

    Args:
        command: the command.
        ctx: typer's context of it.
    """
    records = [
        (getattr(parameter, "rich_help_panel", None) or OTHERS, record)
        for parameter in command.get_params(ctx)
        if (record := parameter.get_help_record(ctx)) is not None
    ]
    titles = sorted({title for title, _ in records}, key=(*PANELS, OTHERS).index)
    if len(titles) < _FEWEST:
        return {"Options": [record for _, record in records]}
    return {title: [record for panel, record in records if panel == title] for title in titles}


def _option(names: str, explanation: str, width: int) -> Iterator[Text]:
    """The lines of one option."""
    text = " ".join(explanation.split())
    at = text.rfind(" [")
    if at >= 0 and text.endswith("]"):  # a default stays in one piece
        text = text[: at + 1] + text[at + 1 :].replace(" ", _NO_BREAK)
    if width < _NARROW:
        for line in _wrapped(names, width - _INDENT, "  "):
            yield Text(" " * _INDENT + line, style="cyan")
        for line in _wrapped(text, width - 2 * _INDENT):
            yield Text(" " * 2 * _INDENT + line)
        return
    column = _INDENT + _NAMES + _GAP
    lines = _wrapped(text, width - column)
    if len(names) > _NAMES:
        yield Text(" " * _INDENT + names, style="cyan")
    else:
        first = Text(" " * _INDENT + names.ljust(_NAMES + _GAP), style="cyan")
        yield first + Text(lines.pop(0) if lines else "", style="default")
    for line in lines:
        yield Text(" " * column + line)


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Lines of at most `width` characters, broken at spaces wherever words are not longer."""
    lines = textwrap.wrap(
        text,
        width,
        subsequent_indent=indent,
        break_on_hyphens=False,
        break_long_words=width < _NARROW // 2,
    )
    return [line.replace(_NO_BREAK, " ") for line in lines]
