"""The options of a command as a table, read from the parameters of its function.

Typer builds the command line from the same parameters, so an option is written down once.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo, OptionInfo


@dataclass(frozen=True, slots=True)
class CommandOption:
    """An option of a command, or its argument.

    Attributes:
        name: name of the function's parameter.
        key: its long name without dashes; for an argument its name in small letters.
        type: type of one value: str, Path, int, float, bool or an enumeration.
        many: it can be given several times; its value is a list.
        required: a command line without it is an error.
        info: what typer was told.
    """

    name: str
    key: str
    type: type
    many: bool
    required: bool
    info: OptionInfo | ArgumentInfo

    @property
    def shown(self) -> str:
        """Name of the option on a command line."""
        return f"--{self.key}" if isinstance(self.info, OptionInfo) else self.key.upper()

    @property
    def takes_a_bare_number(self) -> bool:
        """Whether the text of the option may be a number alone, such as ``128``."""
        text = (self.info.metavar or "").rpartition("]")[2]
        return self.type is str and text[:1].isdigit()


def options_of(command: Callable[..., object]) -> tuple[CommandOption, ...]:
    """The options and arguments of a command, in the order of its parameters.

    Args:
        command: a function whose parameters are annotated for typer.
    """
    hints = get_type_hints(command, include_extras=True)
    found = []
    for parameter in inspect.signature(command).parameters.values():
        hint = hints[parameter.name]
        info = next(
            (m for m in get_args(hint)[1:] if isinstance(m, OptionInfo | ArgumentInfo)), None
        )
        if info is not None:
            kind, many = _type_of_value(get_args(hint)[0])
            required = parameter.default is inspect.Parameter.empty
            key = _key(parameter.name, info)
            found.append(CommandOption(parameter.name, key, kind, many, required, info))
    return tuple(found)


def _key(name: str, info: OptionInfo | ArgumentInfo) -> str:
    for names in info.param_decls or ():
        first = names.split("/")[0]
        if first.startswith("--"):
            return first.removeprefix("--")
    return name.replace("_", "-")


def _type_of_value(hint: Any) -> tuple[type, bool]:
    """The type of one value of an annotation such as `list[str] | None`; whether it has several."""
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(each for each in get_args(hint) if each is not types.NoneType)
    if get_origin(hint) is list:
        return get_args(hint)[0], True
    return hint, False
