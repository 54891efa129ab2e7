"""Signals that end a command (Ctrl-C, SIGTERM, SIGHUP or Ctrl-Break), at a time that suits.

They raise `KeyboardInterrupt` in the main thread, so that all that `with` and `finally` clean up is
cleaned up: child processes, work folders, locks.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from edgec.base.system import ALARM, ENDING, ring

_ALL = (*ENDING, *ALARM)
_AGAIN_S = 1.0


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Hold the signals that end a command back until the end of the block: a moment only.

    Raises:
        KeyboardInterrupt: at the end, if one came meanwhile and nothing else handles it.
    """
    pending: list[int] = []
    with handled(_ALL, lambda number, _frame: pending.append(number)):
        yield
    for number in dict.fromkeys(pending):
        signal.raise_signal(signal.Signals(number))


@contextmanager
def interrupts_raised() -> Iterator[Callable[[], int]]:
    """Let the signals that end a command raise KeyboardInterrupt; tell afterwards which one came.

    Compiled modules that are interrupted while they load turn KeyboardInterrupt into ImportError,
    and what a callback of a C library raises is lost.  Therefore the exception is raised anew each
    second until the block is left or `interrupt_answered` is called.

    Yields:
        A function that returns the number of the first signal that came; 0 if none came.
    """
    came: list[int] = []
    is_over = False

    def interrupt(number: int, frame: FrameType | None) -> None:
        if is_over:
            return
        if number not in ALARM:
            came.append(number)
        ring(_AGAIN_S)
        signal.default_int_handler(number, frame)

    with handled(_ALL, interrupt):
        try:
            yield lambda: came[0] if came else 0
        finally:
            is_over = True
            if came:
                ring(0.0)


def interrupt_answered() -> None:
    """Raise the signal that came no more: the command goes on, to say what it has found so far."""
    ring(0.0)


@contextmanager
def handled(
    numbers: Sequence[signal.Signals], handler: Callable[[int, FrameType | None], object]
) -> Iterator[None]:
    """Handle signals in the main thread; those that are ignored, as under nohup, stay ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    found = {number: signal.getsignal(number) for number in numbers}
    previous = {number: old for number, old in found.items() if old not in (signal.SIG_IGN, None)}
    try:
        for number in previous:
            signal.signal(number, handler)
        yield
    finally:
        for number, old in previous.items():
            signal.signal(number, old)
