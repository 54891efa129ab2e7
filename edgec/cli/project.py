"""Commands whose options may stand in a project file: what the command line says wins."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import typer

from edgec.base.errors import ConfigError, UsageError
from edgec.cli.given import check_given, shown_to_typer
from edgec.cli.help import INPUT
from edgec.cli.option_table import CommandOption, options_of
from edgec.cli.project_file import PROJECT_FILE, ProjectFile, project_here, read_project

ProjectOption = Annotated[
    Path | None,
    typer.Option(
        "--project",
        metavar="FILE",
        help="Project file that says what the command line does not "
        f"(default: {PROJECT_FILE} here, without MODEL).",
        rich_help_panel=INPUT,
    ),
]
Options = tuple[CommandOption, ...]
R = TypeVar("R")
TABLES = ("check",)
"""Tables of a project file that belong to other commands."""
ONLY_WITH = {
    "budget": ("model", "board", "build"),
    "out": ("model", "board"),
    "main": ("model", "app"),
    "tune": ("no_tune",),
}
"""Keys that do not hold where the command line changes one of these options: most are about the
build of the file."""


def with_project(
    request: Callable[..., Any], command: Callable[..., None], without: Iterable[str] = ()
) -> Callable[..., None]:
    """A command that gets its options from the command line and from a project file.

    Args:
        request: its parameters are the options; makes of them what the command works on.
        command: takes that, and the keyword arguments that are about output alone.
        without: parameters of the request that play no part in the command: a project file may
            have them, the command line has no such option.

    Returns:
        A function for typer, with the parameters of both and `--project`.
    """
    table = options_of(request)
    parameters = inspect.signature(request).parameters
    absent = {name: parameters[name].default for name in without}
    extra = list(inspect.signature(command).parameters.values())[1:]

    @functools.wraps(command)
    def run(context: typer.Context, project: Path | None, **given: Any) -> None:
        rest = {each.name: given.pop(each.name) for each in extra}
        named = {name for name in given if on_command_line(context, name)}
        given |= absent
        found = None if project is None else read_project(project)
        if found is None and "model" not in named:
            found = project_here()
            if found is None:
                what = f"missing argument 'MODEL', and there is no {PROJECT_FILE} here to read it"
                raise UsageError(what, hint="edgec new DIR makes a project")
        values = {} if found is None else from_file(found, table, given, named)
        values = {name: value for name, value in values.items() if name not in absent}
        with attributed_to(found, table, values):
            missing = missing_option(table, {**given, **values})
            if missing is not None and found is None:
                context.fail(f"Missing option {missing.shown!r}.")
            asked = requested(request, table, {**given, **values}, found)
            command(asked, **rest)

    return shown_to_typer(run, _parameters(request, command, absent))


def from_file(
    project: ProjectFile,
    table: Options,
    given: Mapping[str, Any],
    named: set[str],
) -> dict[str, Any]:
    """Values of all options: from the project file where the command line does not give them.

    Args:
        project: the file.
        table: the options of the command.
        given: the values of the command line, with defaults.
        named: the parameters that stand on the command line.

    Raises:
        ConfigError: the file is wrong.
    """
    found = project.values(table, tables=TABLES)
    _refuse_wrong_tables(project)
    changed = {name for name in named if found.get(name) != given[name]}
    return {
        name: value
        for name, value in found.items()
        if name not in named and not changed.intersection(ONLY_WITH.get(name, ()))
    }


def _refuse_wrong_tables(project: ProjectFile) -> None:
    """Name a mistake in the table of another command, too, and not only when that command runs.

    Raises:
        ConfigError: a key is unknown, or a value is of another type.
    """
    from edgec.cli.check import check

    project.values(options_of(check), table="check")


def missing_option(table: Options, values: Mapping[str, Any]) -> CommandOption | None:
    """The first required option that has no value; None where all have one."""
    return next((each for each in table if each.required and values[each.name] is None), None)


def requested(
    request: Callable[..., R],
    table: Options,
    values: Mapping[str, Any],
    project: ProjectFile | None,
) -> R:
    """Build the request of a command from the values of all its options.

    Args:
        request: as for `with_project`; it takes the file, too.
        table: its options.
        values: a value for each.
        project: the file that some come from; its folder is the root of paths.

    Raises:
        ConfigError: an option cannot be read, or one that is required has no value.
    """
    if project is None:
        check_given(values)
        return request(**values)
    missing = missing_option(table, values)
    if missing is not None:
        hint = f"write {missing.key} = ... into it, or give {missing.shown} on the command line"
        raise ConfigError(f"the key {missing.key} is missing", where=str(project.path), hint=hint)
    check_given(values)
    with attributed_to(project, table, {}, otherwise=str(project.path)):
        return request(**values, project=project)


@contextmanager
def attributed_to(
    project: ProjectFile | None,
    table: Options,
    values: Iterable[str],
    *,
    section: str = "",
    otherwise: str = "",
) -> Iterator[None]:
    """Let messages that name options name the places in the file that gave their values.

    Args:
        project: the file; None: nothing is changed.
        table: the options of the command.
        values: the parameters whose values come from the file.
        section: table of the file that holds them, if they are not at its top.
        otherwise: what a message names that names nothing.
    """
    try:
        yield
    except ConfigError as error:
        if project is not None:
            above = f"{section}." if section else ""
            places = {
                each.shown: f"{project.path}: {above}{each.key}"
                for each in table
                if each.name in values
            }
            words = (error.where or otherwise).split(", ")
            error.where = ", ".join(places.get(word, word) for word in words)
        raise


def on_command_line(context: typer.Context, name: str) -> bool:
    """Whether a parameter got its value there, and not from its default."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _parameters(
    request: Callable[..., Any], command: Callable[..., None], absent: Container[str]
) -> list[inspect.Parameter]:
    """The parameters for typer: those of both functions, none of them required."""
    found = [_parameter("context", typer.Context, inspect.Parameter.empty)]
    hints = get_type_hints(request, include_extras=True)
    for option in options_of(request):
        if option.name in absent:
            continue
        parameter = inspect.signature(request).parameters[option.name]
        hint, default = hints[option.name], parameter.default
        if option.required:
            hint, default = Annotated[get_args(hint)[0] | None, option.info], None
        found.append(_parameter(option.name, hint, default))
    found.append(_parameter("project", ProjectOption, None))
    hints = get_type_hints(command, include_extras=True)
    for parameter in list(inspect.signature(command).parameters.values())[1:]:
        found.append(_parameter(parameter.name, hints[parameter.name], parameter.default))
    return found


def _parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(name, kind, default=default, annotation=hint)
