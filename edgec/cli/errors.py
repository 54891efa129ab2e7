"""How a command ends: one message and an exit code, whatever was raised.

Every `EdgecError` ends in one message on stderr and its exit code; so do full disks, missing
permissions and Ctrl-C.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable

from edgec.base.errors import ConfigError, EdgecError, InternalError, system_reason
from edgec.base.interrupts import interrupts_remembered
from edgec.report import console

EXIT_INTERRUPTED = 130


def guarded(command: Callable[[], object]) -> int:
    """Run a command line application; its exit code.  Never raises."""
    with interrupts_remembered() as interrupted:
        try:
            command()
        except SystemExit as stop:
            return _interrupted() if stop.code == EXIT_INTERRUPTED else _exit_code(stop)
        except Exception as error:
            return _interrupted() if interrupted() else _failure(error)
    return 0


def _failure(error: Exception) -> int:
    """Report what ended a command; its exit code."""
    if isinstance(error, EdgecError):
        return _fail(error)
    if isinstance(error, BrokenPipeError):
        # The reader (head, less) went away: not an error of ours.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if isinstance(error, OSError):
        return _fail(_system_error(error))
    if isinstance(error, MemoryError):
        return _fail(ConfigError("out of memory", hint="is the model or data file that large?"))
    if "EDGEC_DEBUG" in os.environ:
        traceback.print_exception(error)
    hint = "this is a bug of edgec: please report it; EDGEC_DEBUG=1 shows the traceback"
    return _fail(InternalError(f"{type(error).__name__}: {error}", hint=hint))


def _system_error(error: OSError) -> ConfigError:
    """A message that says what the operating system refused."""
    where = str(error.filename or "")
    return ConfigError(system_reason(error), where=where)


def _exit_code(stop: SystemExit) -> int:
    """The code with which typer wants to exit: it handles usage errors itself."""
    return stop.code if isinstance(stop.code, int) else 0 if stop.code is None else 1


def _interrupted() -> int:
    console.err.print("interrupted; earlier results are as they were")
    return EXIT_INTERRUPTED


def _fail(error: EdgecError) -> int:
    console.print_error(error)
    return error.exit_code
