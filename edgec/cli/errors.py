"""End of a command: one message and an exit code, whatever was raised.

Every `EdgecError` ends in one message on stderr and its exit code; so do full disks, missing
permissions, Ctrl-C and the signals SIGTERM and SIGHUP.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from edgec.base.errors import (
    ConfigError,
    EdgecError,
    InternalError,
    InterruptedByUser,
    UsageError,
    system_reason,
)
from edgec.base.interrupts import interrupts_raised
from edgec.report import console

_NO_ROOM = ("failed to map segment", "cannot allocate memory", "Cannot allocate memory")
"""Words of the C library where there is no memory for a library to be loaded."""


def guarded(command: Callable[[], object], *, json: bool = False) -> int:
    """Run a command line application; its exit code.  Never raises.

    Args:
        command: the application; it returns an exit code or ends as a program does.
        json: report an error as one JSON object on stdout.
    """
    came: Callable[[], int] = int
    try:
        _check_working_folder()
        with interrupts_raised() as came:
            code = command()
            if isinstance(code, int) and code != 0:
                # Typer may return what else it would exit with, 130 after Ctrl-C, too.
                raise SystemExit(code)
    except BaseException as error:
        return _ended_by(error, came(), json)
    return 0


def _check_working_folder() -> None:
    """Refuse to begin in a folder that was deleted, where every path would only be "not found".

    Raises:
        ConfigError: it was.
    """
    try:
        Path.cwd()
    except FileNotFoundError as error:
        what = "the folder that this command runs in was deleted"
        raise ConfigError(what, hint="change to a folder that exists: cd") from error


def _ended_by(error: BaseException, signal_number: int, json: bool) -> int:
    """Report what ended a command, after a signal or without one; its exit code."""
    if isinstance(error, SystemExit):
        code = _exit_code(error)
        # Typer turns KeyboardInterrupt into this one.
        interrupted = code == InterruptedByUser.exit_code or (signal_number and code)
    else:
        code, interrupted = 1, signal_number or isinstance(error, KeyboardInterrupt)
    report = console.print_json_error if json else console.print_error
    if interrupted:
        found = InterruptedByUser(signal_number or signal.SIGINT)
        if json:
            report(found)
        else:
            console.err.print(found.what)
        return found.exit_code
    return _failure(error, report) if isinstance(error, Exception) else code


def _failure(error: Exception, report: Callable[[EdgecError], None]) -> int:
    """Report what ended a command; its exit code."""
    found = _as_ours(error)
    if found is None:
        return 0
    report(found)
    return found.exit_code


def _as_ours(error: Exception) -> EdgecError | None:
    """The error of edgec that says what ended a command; None where nothing went wrong."""
    if isinstance(error, EdgecError):
        return error
    if hasattr(error, "format_message"):  # typer's; which class depends on its version
        return _usage(error)
    if isinstance(error, BrokenPipeError):
        # The reader (head, less) went away: not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return None
    if isinstance(error, OSError):
        return _system_error(error)
    if isinstance(error, MemoryError):
        return ConfigError("out of memory", hint="is the model or data file that large?")
    if isinstance(error, ImportError) and any(each in str(error) for each in _NO_ROOM):
        return ConfigError("out of memory", hint="ulimit -v limits what a command may take")
    if "EDGEC_DEBUG" in os.environ:
        traceback.print_exception(error)
    hint = "this is a bug of edgec: please report it; EDGEC_DEBUG=1 shows the traceback"
    return InternalError(f"{type(error).__name__}: {error}", hint=hint)


def _usage(error: Any) -> UsageError:
    """Usage error with typer's message about the command line."""
    context = getattr(error, "ctx", None)
    said = str(error.format_message()).removesuffix(".")
    command = "edgec" if context is None else context.command_path
    return UsageError(said[:1].lower() + said[1:], hint=f"{command} --help shows what it takes")


def _system_error(error: OSError) -> ConfigError:
    """A message that says what the operating system refused."""
    where = str(error.filename or "")
    return ConfigError(system_reason(error), where=where)


def _exit_code(stop: SystemExit) -> int:
    """The code with which typer wants to exit: it handles usage errors itself."""
    return stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1
