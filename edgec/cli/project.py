"""Commands whose options may stand in a project file: what the command line says wins."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from edgec.base.errors import ConfigError, UsageError
from edgec.cli.option_table import CommandOption, options_of
from edgec.cli.project_file import PROJECT_FILE, ProjectFile, project_here, read_project

ProjectOption = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="FILE",
        help="Project file that says what the command line does not "
        f"(default: {PROJECT_FILE} here, without MODEL).",
    ),
]
TABLES = ("check",)
"""Tables of a project file that belong to other commands."""
ONLY_WITH = {"budget": ("model", "board", "build"), "out": ("model", "board")}
"""Keys that are about the build of the file: they do not hold where the command line changes
one of these options."""


def with_project(request: Callable[..., Any], command: Callable[..., None]) -> Callable[..., None]:
    """A command that gets its options from the command line and from a project file.

    Args:
        request: its parameters are the options; makes of them what the command works on.
        command: takes that, and the keyword arguments that are about output alone.

    Returns:
        A function for typer, with the parameters of both and `--project`.
    """
    table = options_of(request)
    extra = list(inspect.signature(command).parameters.values())[1:]

    @functools.wraps(command)
    def run(context: typer.Context, project: Path | None, **given: Any) -> None:
        rest = {each.name: given.pop(each.name) for each in extra}
        named = {name for name in given if _on_command_line(context, name)}
        found = None
        if project is not None or "model" not in named:
            found = project_here() if project is None else read_project(project)
        values = {} if found is None else from_file(found, table, given, named)
        asked = None
        try:
            asked = request(**_complete(table, {**given, **values}, found), **_root(found))
            command(asked, **rest)
        except ConfigError as error:
            if found is not None:
                where = error.where or ("" if asked else str(found.path))
                error.where = _attributed(where, table, values, found)
            raise

    run.__signature__ = _signature(request, command)  # type: ignore[attr-defined]
    run.__annotations__ = {
        each.name: each.annotation for each in inspect.signature(run).parameters.values()
    }
    return run


def from_file(
    project: ProjectFile,
    table: tuple[CommandOption, ...],
    given: Mapping[str, Any],
    named: set[str],
) -> dict[str, Any]:
    """What a project file says where the command line says nothing.

    Args:
        project: the file.
        table: the options of the command.
        given: the values of the command line, with defaults.
        named: the parameters that stand on the command line.

    Raises:
        ConfigError: the file is wrong.
    """
    found = project.values(table, tables=TABLES)
    changed = {name for name in named if found.get(name) != given[name]}
    return {
        name: value
        for name, value in found.items()
        if name not in named and not changed.intersection(ONLY_WITH.get(name, ()))
    }


def _complete(
    table: tuple[CommandOption, ...], values: dict[str, Any], project: ProjectFile | None
) -> dict[str, Any]:
    """The values of all options.

    Raises:
        UsageError: one that is required has none.
    """
    for option in table:
        if option.required and values[option.name] is None:
            where = "" if project is None else str(project.path)
            raise UsageError(
                f"Missing {'argument' if option.shown[0] != '-' else 'option'} {option.shown!r}.",
                where=where,
                hint=f"give it, or write {option.key} = ... into {where or PROJECT_FILE}",
            )
    return values


def _root(project: ProjectFile | None) -> dict[str, Path]:
    """Where the folder of builds lies, if not in the current folder."""
    return {} if project is None else {"root": project.folder}


def _attributed(
    where: str, table: tuple[CommandOption, ...], values: Mapping[str, Any], project: ProjectFile
) -> str:
    """Names of options in a message, as the place in the file that gave their values."""
    places = {each.shown: f"{project.path}: {each.key}" for each in table if each.name in values}
    return ", ".join(places.get(word, word) for word in where.split(", "))


def _on_command_line(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _signature(request: Callable[..., Any], command: Callable[..., None]) -> inspect.Signature:
    """The parameters for typer: those of both functions, none of them required."""
    found = [_parameter("context", typer.Context, inspect.Parameter.empty)]
    hints = get_type_hints(request, include_extras=True)
    for option in options_of(request):
        parameter = inspect.signature(request).parameters[option.name]
        hint, default = hints[option.name], parameter.default
        if option.required:
            hint, default = Annotated[get_args(hint)[0] | None, option.info], None
        found.append(_parameter(option.name, hint, default))
    found.append(_parameter("project", ProjectOption, None))
    hints = get_type_hints(command, include_extras=True)
    for parameter in list(inspect.signature(command).parameters.values())[1:]:
        found.append(_parameter(parameter.name, hints[parameter.name], parameter.default))
    return inspect.Signature(found)


def _parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(name, kind, default=default, annotation=hint)
