"""How a command ends: one message and an exit code, whatever was raised.

Every `EdgecError` ends in one message on stderr and its exit code; so do full disks, missing
permissions and Ctrl-C.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable

from edgec.base.errors import (
    ConfigError,
    EdgecError,
    InternalError,
    InterruptedByUser,
    UsageError,
    system_reason,
)
from edgec.base.interrupts import interrupts_remembered
from edgec.report import console

EXIT_INTERRUPTED = InterruptedByUser.exit_code


def guarded(command: Callable[[], object], *, json: bool = False) -> int:
    """Run a command line application; its exit code.  Never raises.

    Args:
        command: the application; it returns an exit code or ends as a program does.
        json: report an error as one JSON object on stdout.
    """
    report = console.print_json_error if json else console.print_error
    with interrupts_remembered() as interrupted:
        try:
            code = command()
        except SystemExit as stop:
            return _interrupted(json) if stop.code == EXIT_INTERRUPTED else _exit_code(stop)
        except KeyboardInterrupt:
            return _interrupted(json)
        except Exception as error:
            return _interrupted(json) if interrupted() else _failure(error, report)
    return code if isinstance(code, int) else 0


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
    usage = getattr(error, "format_message", None)  # typer's; which class depends on its version
    if usage is not None:
        return UsageError(usage(), hint="--help lists commands and options")
    if isinstance(error, BrokenPipeError):
        # The reader (head, less) went away: not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return None
    if isinstance(error, OSError):
        return _system_error(error)
    if isinstance(error, MemoryError):
        return ConfigError("out of memory", hint="is the model or data file that large?")
    if "EDGEC_DEBUG" in os.environ:
        traceback.print_exception(error)
    hint = "this is a bug of edgec: please report it; EDGEC_DEBUG=1 shows the traceback"
    return InternalError(f"{type(error).__name__}: {error}", hint=hint)


def _system_error(error: OSError) -> ConfigError:
    """A message that says what the operating system refused."""
    where = str(error.filename or "")
    return ConfigError(system_reason(error), where=where)


def _exit_code(stop: SystemExit) -> int:
    """The code with which typer wants to exit: it handles usage errors itself."""
    return stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1


def _interrupted(json: bool) -> int:
    text = "interrupted; earlier results are as they were"
    if json:
        console.print_json_error(InterruptedByUser(text))
    else:
        console.err.print(text)
    return EXIT_INTERRUPTED
