"""Values of options: completion in shells, and in words those that an option does not take."""

from __future__ import annotations

import difflib
import enum
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from edgec.base.errors import ConfigError, UsageError
from edgec.base.names import shown
from edgec.cli.option_table import CommandOption, options_of


def choice(text: str, kind: type[enum.Enum], where: str) -> enum.Enum:
    """The member of an enumeration with this value.

    Raises:
        ConfigError: there is none.
    """
    choices = [str(each.value) for each in kind]
    if text not in choices:
        close = difflib.get_close_matches(text[:64], choices, n=1)
        hint = f"did you mean {close[0]}?" if close else f"give {', '.join(choices)}"
        raise ConfigError(
            f"takes {', '.join(choices)}, not {shown(text)!r}", where=where, hint=hint
        )
    return kind(text)


def check_least(value: float, option: CommandOption, where: str) -> None:
    """Refuse a number below the least that an option takes.

    Raises:
        ConfigError: it is.
    """
    least = option.info.min
    if least is not None and value < least:
        raise ConfigError("the number is too small", where=where, hint=f"give {least} or more")


def check_given(command: Callable[..., object], name: str, words: Sequence[str]) -> None:
    """Say in words what is wrong with a value on the command line.

    Args:
        command: its parameters are the options.
        name: the parameter that was refused.
        words: the command line.

    Raises:
        UsageError: the option takes a choice or a number, and one of its values is none.
    """
    for option in options_of(command):
        for text in _values(option, words) if option.name == name else ():
            try:
                _check(text, option)
            except ConfigError as error:
                raise UsageError(error.what, where=error.where, hint=error.hint) from error


def _values(option: CommandOption, words: Sequence[str]) -> list[str]:
    """The values that a command line gives to an option."""
    after = [value for word, value in pairwise(words) if word == option.shown]
    joined = [word.partition("=")[2] for word in words if word.startswith(f"{option.shown}=")]
    return after + joined


def _check(text: str, option: CommandOption) -> None:
    kind = option.type
    if issubclass(kind, enum.Enum):
        choice(text, kind, option.shown)
    elif kind in (int, float):
        try:
            number = kind(text)
        except ValueError as error:
            takes = "a whole number" if kind is int else "a number"
            raise ConfigError(f"takes {takes}, not {shown(text)!r}", where=option.shown) from error
        check_least(number, option, option.shown)


def board_names(incomplete: str) -> Iterator[tuple[str, str]]:
    """Names and aliases of boards that begin like `incomplete`, each with the board's title."""
    from edgec.target.board import list_boards

    for board in list_boards():
        for name in (board.name, *board.aliases):
            if name.startswith(incomplete):
                yield name, board.title
