"""The program `edgec`, also as `python -m edgec`."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

from edgec.base.system import ENDING


def main() -> None:
    """Entry point of the `edgec` command.

    Loading the command line takes some tenths of a second.  Meanwhile the signals that end a
    command are answered here, without a traceback: nothing has been begun yet.
    """
    _answer_by(_leave)
    # Before numpy is loaded.  Products are made of blocks that fit a cache: threads that
    # share such a block spend more processor time on waiting for one another than on the block.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from edgec.cli.app import run_app  # noqa: PLC0415  (takes a while)

    code = run_app()
    # The command is done; the interpreter still has to shut down.
    _answer_by(signal.SIG_IGN)
    sys.exit(code)


def _leave(number: int, _frame: object) -> None:
    name = "interrupted" if number == signal.SIGINT else f"ended by {signal.Signals(number).name}"
    os.write(2, f"{name}; earlier results are as they were\n".encode())
    os._exit(128 + number)


def _answer_by(handler: Callable[[int, object], None] | signal.Handlers) -> None:
    """Handle the signals that end a command, except those that are ignored, as under nohup."""
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


if __name__ == "__main__":
    main()
