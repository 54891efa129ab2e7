"""The files that a command line names, all looked at before the command loads what takes time.

`begun` makes that the first step of a command, and takes `-v` after the name as well as before it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, get_type_hints

from edgec.base.given_files import check_build_folder, check_model_file, check_sample_file
from edgec.base.label_file import read_labels
from edgec.base.main_program import main_files
from edgec.cli.options import STDIN, HelpAll, Verbose
from edgec.report import console


def _check_tune_file(path: Path) -> None:
    """Refuse a damaged tune file; one that is not there yet is a new one to `edgec tune`."""
    from edgec.target.tune_file import read_tune_file

    if path.exists():
        read_tune_file(path)


CHECKS: Mapping[str, Callable[[Path], object]] = {
    **dict.fromkeys(("model", "models", "teacher"), check_model_file),
    **dict.fromkeys(
        ("calibration", "data", "evaluation", "input", "test", "train"), check_sample_file
    ),
    **dict.fromkeys(("folder", "folders"), check_build_folder),
    "labels": read_labels,
    "main": main_files,
    "tune": _check_tune_file,
}
"""Parameter that names files to read to what refuses one."""


def check_given(values: Mapping[str, Any]) -> None:
    """Refuse what cannot be read of the files that a user names.

    Args:
        values: the parameters of a command; those that name no file play no part.

    Raises:
        EdgecError: the first file that cannot be read.
    """
    for name, check in CHECKS.items():
        given = values.get(name)
        for path in given if isinstance(given, list | tuple) else (given,):
            if isinstance(path, Path) and path != STDIN:
                check(path)


def begun(command: Callable[..., None], *, alone: bool = True) -> Callable[..., None]:
    """The command with one more option, `--verbose`, that turns logging on before it runs.

    The files that its options name are looked at before it loads anything (`cli.given`).

    Args:
        command: a function whose parameters are annotated for typer.
        alone: no commands stand below it; one more option, `--help-all`, explains it in full.
    """

    @functools.wraps(command)
    def run(*arguments: Any, verbose: bool = False, **options: Any) -> None:
        options.pop("help_all", None)  # ended the command before
        if verbose:
            console.set_up_logging(verbose=True)
        if "project" not in options:  # where a project file may name them, it is read first
            check_given(options)
        command(*arguments, **options)

    more = {"verbose": Verbose, **({"help_all": HelpAll} if alone else {})}
    hints = {**get_type_hints(command, include_extras=True), **more}
    added = (
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False) for name in more
    )
    parameters = (*inspect.signature(command).parameters.values(), *added)
    return shown_to_typer(run, [each.replace(annotation=hints[each.name]) for each in parameters])


def shown_to_typer(
    run: Callable[..., None], parameters: Iterable[inspect.Parameter]
) -> Callable[..., None]:
    """The command with other parameters than its code has: typer reads signature and annotations.

    Args:
        run: the command, which takes them by name.
        parameters: annotated parameters.
    """
    typed: Any = run
    found = typed.__signature__ = inspect.Signature(list(parameters))
    typed.__annotations__ = {name: each.annotation for name, each in found.parameters.items()}
    return run
