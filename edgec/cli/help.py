"""`--help` of a command: options in sections, readable in terminals of any width.

Typer's own tables share the width between five columns; at 80 characters, names and words break.

`PANELS` names the sections, in the order in which they are shown.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from edgec.cli.examples import COMMON, EXAMPLES, SHORT
from edgec.cli.one_line import ONE_LINE
from edgec.cli.values import check_given

INPUT = "Input"
QUANTIZATION = "Quantization"
TRAINING = "Training"
TRANSFORMERS = "Transformers"
STREAMS = "Streams"
POOLS = "Weight pools"
SEARCH = "Search"
OUTPUT = "Output"
PANELS = (INPUT, QUANTIZATION, TRAINING, TRANSFORMERS, STREAMS, POOLS, SEARCH, OUTPUT)


_MOST = 100
"""Longer lines are hard to read."""
_NARROW = 60
"""Terminals below this have names and explanations one above the other."""
_COMMANDS = 10
"""Characters of the column of commands."""
_NAMES = 26
"""Names that are longer stand on a line of their own."""
_LEFT_OUT = ("--show-completion",)
"""Options that the first screen has no room for: `--install-completion` does what people want."""
_INDENT = 2
_GAP = 2
_NAMES_OF_A_LINE = 30
"""Characters of names beside an explanation of one line."""
_AT_THE_END = frozenset({"verbose", "help", "help_all"})
"""Parameters of all commands, which one line for all of them names."""
_OPTIONAL = re.compile(r"\[.*?\]")
"""Parts of a value that may be left out."""
_DEFAULT = re.compile(r"\[(default: [^;\]]+)[^\]]*\]$")
"""A default that typer knows."""
_NO_BREAK = "\N{NO-BREAK SPACE}"
OTHERS = "Other options"
_FEWEST = 3
"""Commands with fewer sections than this have one."""
_PANELS_OF = {
    INPUT: "model models folder folders calibration data input normalize evaluation shape state "
    "max_length on port limit length memory measured bits board find like manifest name project",
    OUTPUT: "output out html json markdown labels",
    TRAINING: "train epochs teacher augment views renew device devices seed",
    POOLS: "pool_size pools ratio terms max_drop group signed layers reorder shared_pool",
}
_PANEL_OF = {name: panel for panel, names in _PANELS_OF.items() for name in names.split()}
"""Section of a parameter that names none itself."""
_KINDS = {
    "path": "FILE",
    "list": "FILE",
    "list[Path]": "FILE",
    "str": "TEXT",
    "int": "N",
    "int range": "N",
    "float": "NUMBER",
}
"""Types as help calls them, to the word for a value."""


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
        """Print a screen: what the command does, the options that most need, examples."""
        console = Console(highlight=False, soft_wrap=True, emoji=False)
        width = max(min(console.width, _MOST), 20)
        name = _words(ctx)
        _print_wrapped(self.get_usage(ctx), console, width, "       ")
        _print_wrapped(inspect.cleandoc(self.help or "").split("\n\n")[0], console, width)
        console.print()
        parameters = [each for each in self.get_params(ctx) if each.name not in _AT_THE_END]
        common = COMMON.get(name, {each.name for each in parameters})
        records = [_one_line(name, each, ctx) for each in parameters if each.name in common]
        column = max((len(names) for names, _ in records), default=0)
        for names, explanation in records:
            for text in _option(names, explanation, width, column):
                console.print(text)
        hidden = len(parameters) - len(records)
        more = {0: "All", 1: "One more option, and all"}.get(hidden, f"{hidden} more, and all")
        _print_wrapped(f"{more} in full: edgec {name} --help-all", console, width)
        console.print()
        _print_examples(name, console, width)

    def print_help(self, ctx: Any) -> None:
        """Print usage, what the command does, its options and examples, everything in full.

        Args:
            ctx: typer's context of it.
        """
        console = Console(highlight=False, soft_wrap=True, emoji=False)
        width = max(min(console.width, _MOST), 20)
        _print_wrapped(self.get_usage(ctx), console, width, "       ")
        for paragraph in inspect.cleandoc(self.help or "").split("\n\n"):
            console.print()
            _print_wrapped(paragraph, console, width)
        for title, records in sections(self, ctx).items():
            console.print()
            console.print(Text(f"{title}:", style="bold"))
            for names, explanation in records:
                for text in _option(names, explanation, width):
                    console.print(text)
        console.print()
        _print_examples(_words(ctx), console, width)


class ReadableGroup(TyperGroup):
    """A command with commands below it, whose `--help` has a line for each of them."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  (typer's interface)
        """Print usage, what it does, commands, options, and examples."""
        console = Console(highlight=False, soft_wrap=True, emoji=False)
        width = max(min(console.width, _MOST), 20)
        above = _words(ctx)
        records = [
            (parameter, record)
            for parameter in self.get_params(ctx)
            if (record := parameter.get_help_record(ctx)) is not None
        ]
        usage = self.get_usage(ctx)
        if not above:
            # Options and example take no lines of their own, so that all commands fit a screen.
            options = (record[0].split(", ")[0] for _, record in records)
            known = " ".join(f"[{name}]" for name in options if name not in _LEFT_OUT)
            usage = f"Usage: {ctx.command_path} {known} COMMAND ..."
        _print_wrapped(usage, console, width, "       ")
        _print_wrapped(self.help or "", console, width)
        for name in self.list_commands(ctx):
            short = SHORT[f"{above} {name}".strip()]
            names = Text(f"{' ' * _INDENT}{name:<{_COMMANDS}}", style="cyan")
            first, *others = _wrapped(short, max(width - _INDENT - _COMMANDS, 20))
            console.print(names + Text(first, style="default"))
            for line in others:
                console.print(Text(" " * (_INDENT + _COMMANDS) + line))
        if above:
            options = (
                f"{_named(parameter, record[0])}: {record[1]}" for parameter, record in records
            )
            _print_wrapped(f"Options: {' '.join(options)}", console, width, "  ")
            _print_examples(above, console, width)
            return
        # On one line, which click ends.
        (example,) = EXAMPLES[above]
        console.print(Text("Example: ", style="bold") + Text(example, style="green"), end="")


def _print_wrapped(text: str, console: Console, width: int, indent: str = "") -> None:
    """Print a paragraph, whatever its lines were."""
    for line in _wrapped(" ".join(text.split()), width, indent):
        console.print(Text(line))


def _print_examples(words: str, console: Console, width: int) -> None:
    """Print the examples of a command."""
    console.print(Text("Examples:", style="bold"))
    for example in EXAMPLES[words]:
        for line in _wrapped(example, width - _INDENT, "    "):
            console.print(Text(" " * _INDENT + line, style="green"))


def _words(ctx: Any) -> str:
    """The name of a command as `EXAMPLES` has it, such as "boards show"; "" of edgec itself."""
    names: list[str] = []
    while ctx.parent is not None:
        names.insert(0, ctx.info_name)
        ctx = ctx.parent
    return " ".join(names)


def show_all(ctx: Any, value: bool) -> None:
    """Print the whole help of a command and end it: what `--help-all` does.

    Raises:
        Exit: it was asked for.
    """
    if value:
        ctx.command.print_help(ctx)
        ctx.exit()


def sections(command: TyperCommand, ctx: Any) -> dict[str, list[tuple[str, str]]]:
    """Names and explanation of each option and argument, by the title of their panel.

    Args:
        command: the command.
        ctx: typer's context of it.
    """
    records = [
        (_panel(parameter), (_named(parameter, record[0]), record[1]))
        for parameter in command.get_params(ctx)
        if (record := parameter.get_help_record(ctx)) is not None
    ]
    titles = sorted({title for title, _ in records}, key=(*PANELS, OTHERS).index)
    if len(titles) < _FEWEST:
        return {"Options": [record for _, record in records]}
    return {title: [record for panel, record in records if panel == title] for title in titles}


def _one_line(command: str, parameter: Any, ctx: Any) -> tuple[str, str]:
    """Shortest names of a parameter, and its explanation in a line."""
    names, explanation = parameter.get_help_record(ctx)
    names = _named(parameter, names)
    if parameter.param_type_name == "option":
        long = next(each for each in parameter.opts if each.startswith("--"))
        short = [each for each in parameter.opts if not each.startswith("--")][:1]
        value = names.rpartition(" ")[2] if " " in names.rpartition(", ")[2] else ""
        value = _OPTIONAL.sub("", value).strip("<>")
        names = f"{', '.join((*short, long))} {value}".rstrip()
        if (
            len(names) > _NAMES_OF_A_LINE and "," in value
        ):  # the first of the values in a list says how they look
            names = f"{', '.join((*short, long))} {value.partition(',')[0]},..."
    own = ONE_LINE.get(f"{command} {parameter.name}", ONE_LINE.get(parameter.name))
    text = own or parameter.help.removesuffix(".")
    default = _DEFAULT.search(explanation)
    return names, f"{text} [{default[1]}]" if default else text


def _panel(parameter: Any) -> str:
    own = getattr(parameter, "rich_help_panel", None)
    return own or _PANEL_OF.get(parameter.name, OTHERS)


def _named(parameter: Any, names: str) -> str:
    """Names of a parameter with the word for its value in place of a type."""
    for kind, word in _KINDS.items():
        is_option = parameter.param_type_name == "option"
        names = names.replace(f" <{kind}>", f" {word}" if is_option else "")
    return names


def _option(names: str, explanation: str, width: int, most: int = _NAMES) -> Iterator[Text]:
    """The lines of one option; names of at most `most` characters share one with the text."""
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
    column = _INDENT + most + _GAP
    lines = _wrapped(text, width - column)
    if len(names) > most:
        yield Text(" " * _INDENT + names, style="cyan")
    else:
        first = Text(" " * _INDENT + names.ljust(most + _GAP), style="cyan")
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
