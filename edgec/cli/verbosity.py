"""`-v` after the command's name, as well as before it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from edgec.cli.options import Verbose
from edgec.report import console


def with_verbosity(command: Callable[..., None]) -> Callable[..., None]:
    """The command with one more option, `--verbose`, that turns logging on before it runs."""

    @functools.wraps(command)
    def run(*arguments: Any, verbose: bool = False, **options: Any) -> None:
        if verbose:
            console.set_up_logging(verbose=True)
        command(*arguments, **options)

    # Typer reads the parameters of a command from its signature and annotations.
    hints = {**get_type_hints(command, include_extras=True), "verbose": Verbose}
    option = inspect.Parameter("verbose", inspect.Parameter.KEYWORD_ONLY, default=False)
    parameters = (*inspect.signature(command).parameters.values(), option)
    typed = [each.replace(annotation=hints[each.name]) for each in parameters]
    run.__signature__ = inspect.Signature(typed)  # type: ignore[attr-defined]
    run.__annotations__ = hints
    return run
