"""Project files: `edgec.toml` holds what the command line of a command says.

The keys are the long names of the options (`option_table`), the values what a command line would
give: text, numbers, true and false, lists of text for options that can be repeated.  Paths are
relative to the file.  Options of `edgec compile` are at the top, those of another command in the
table of its name.
"""

from __future__ import annotations

import difflib
import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgec.base.errors import ConfigError
from edgec.base.names import shown
from edgec.base.toml_file import read_toml
from edgec.cli.option_table import CommandOption
from edgec.cli.values import check_least, choice

PROJECT_FILE = "edgec.toml"
COMMAND_LINE_ONLY = frozenset({"force", "dump_ir", "project", "update", "markdown", "json", "run"})
"""Parameters that are about one run of a command, and so never in a file."""
FRONT_END_TABLE = "front_end"
"""The table of a front end, whose keys are its parameters and ``name``."""
_FRONT_END = "front-end"
_HINT = f"docs/projects.md describes {PROJECT_FILE}"


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """Keys and path of a project file.

    Attributes:
        path: the file.
        data: its keys.
    """

    path: Path
    data: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        """The folder that its paths are relative to."""
        return self.path.parent

    @property
    def labelled_data(self) -> Path | None:
        """The samples with labels that `edgec check` evaluates; None where it names none."""
        table = self.data.get("check")
        data = table.get("data") if isinstance(table, dict) else None
        return self.folder / data if isinstance(data, str) else None

    def values(
        self, options: Iterable[CommandOption], table: str = "", tables: Iterable[str] = ()
    ) -> dict[str, Any]:
        """The values that the file has for the options of a command, by parameter.

        Args:
            options: those of the command.
            table: the file's table that holds them; "": the top of the file.
            tables: tables that may be there beside the options.

        Raises:
            ConfigError: a key is unknown, or a value is not of the type that the option takes.
        """
        known = {each.key: each for each in options if each.name not in COMMAND_LINE_ONLY}
        found = self.data.get(table, {}) if table else self.data
        if not isinstance(found, dict):
            raise ConfigError(
                f"is {_named(found)}, and must be a table",
                where=f"{self.path}: {table}",
                hint=f"begin it with a line [{table}]",
            )
        values: dict[str, Any] = {}
        for key, value in found.items():
            where = f"{self.path}: {table + '.' if table else ''}{shown(key)}"
            if key in tables:
                continue
            if key == FRONT_END_TABLE and isinstance(value, dict) and _FRONT_END in known:
                values[known[_FRONT_END].name] = self._front_end(value, found, where)
                continue
            if key not in known:
                names = [*known, *tables]
                raise ConfigError("unknown key", where=where, hint=_suggestion(key, names, options))
            values[known[key].name] = self._value(value, known[key], where)
        return values

    def _front_end(
        self, table: Mapping[str, object], beside: Mapping[str, object], where: str
    ) -> str:
        """The table of a front end as its option has it."""
        from edgec.base.options.front_end import FrontEndOptions
        from edgec.frontends.parameters import any_parameters_of

        if _FRONT_END in beside:
            hint = f"leave out {_FRONT_END}, or the table [{FRONT_END_TABLE}]"
            raise ConfigError(f"{_FRONT_END} is there as well", where=where, hint=hint)
        try:
            found = FrontEndOptions.of_table(table)
            any_parameters_of(found)
        except ConfigError as error:
            raise ConfigError(error.what, where=where, hint=error.hint) from error
        return str(found)

    def _value(self, value: object, option: CommandOption, where: str) -> object:
        """Value of an option's key, as a command line would have given it."""
        if not option.many:
            return self._single(value, option, where)
        if not isinstance(value, list):
            hint = f'put it into brackets: {option.key} = ["..."]'
            raise ConfigError(f"is {_named(value)}, and takes a list", where=where, hint=hint)
        return [self._single(each, option, where) for each in value]

    def _single(self, value: object, option: CommandOption, where: str) -> object:
        kind = option.type
        if kind is bool:
            return _typed(value, bool, "true or false", where)
        if kind in (int, float):
            return _number(value, option, where)
        if option.takes_a_bare_number and isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        text = str(_typed(value, str, "text", where))
        if not text or not text.isprintable():
            what = "holds a control character" if text else "is empty"
            raise ConfigError(what, where=where, hint="leave the key out, or give a value")
        if issubclass(kind, enum.Enum):
            return choice(text, kind, where)
        # A board's own file, too, is found from the project file.
        is_path = kind is Path or (option.name == "board" and text.endswith(".toml"))
        if not is_path:
            return text
        return self.folder / text if kind is Path else str(self.folder / text)


def read_project(path: Path) -> ProjectFile:
    """Read a project file; of a folder the file `edgec.toml` in it.

    Raises:
        ConfigError: there is none, or it cannot be read.
    """
    found = path / PROJECT_FILE if path.is_dir() else path
    return ProjectFile(found, read_toml(found, "project file", _HINT))


def project_here() -> ProjectFile | None:
    """The project file of the current folder; None where there is none.

    Raises:
        ConfigError: it cannot be read.
    """
    path = Path(PROJECT_FILE)
    return read_project(path) if path.exists() else None


def _suggestion(key: str, names: list[str], options: Iterable[CommandOption]) -> str:
    if key in {each.key for each in options if each.name in COMMAND_LINE_ONLY}:
        return f"give --{key} on the command line: it is about one run"
    written = key[:64].lstrip("-").replace("_", "-").lower()
    close = difflib.get_close_matches(written, names, n=3)
    if close:
        return f"did you mean {', '.join(close)}?"
    return "keys are the long names of options: " + ", ".join(names)


def _typed(value: object, kind: type, takes: str, where: str) -> object:
    if not isinstance(value, kind):
        hint = 'put it into quotes, like "..."' if kind is str else "without quotes"
        raise ConfigError(f"is {_named(value)}, and takes {takes}", where=where, hint=hint)
    return value


def _number(value: object, option: CommandOption, where: str) -> int | float:
    kinds = (int,) if option.type is int else (int, float)
    takes = "a whole number" if option.type is int else "a number"
    if isinstance(value, bool) or not isinstance(value, kinds):
        hint = "without quotes" if isinstance(value, str) else "give a number"
        raise ConfigError(f"is {_named(value)}, and takes {takes}", where=where, hint=hint)
    check_least(value, option, where)
    return value if option.type is int else _real(value, where)


def _real(value: float, where: str) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise ConfigError("the number is too large", where=where, hint="give less") from error


def _named(value: object) -> str:
    """A value of TOML in words."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return "a number"
        case str():
            return f"the text {shown(value)!r}"
        case list():
            return "a list"
        case dict():
            return "a table"
    return "a date or a time"
