"""Ctrl-C at a time that suits: not in the middle of what must be done as a whole."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Hold Ctrl-C back until the end of the block, which should take a moment only.

    Raises:
        KeyboardInterrupt: at the end, if Ctrl-C came meanwhile.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pending: list[int] = []
    previous = signal.signal(signal.SIGINT, lambda number, _frame: pending.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
    if pending:
        raise KeyboardInterrupt


@contextmanager
def interrupts_remembered() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C raise KeyboardInterrupt as ever, and tell afterwards whether it came.

    Compiled modules that are interrupted while they load turn KeyboardInterrupt into ImportError.
    """
    came: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        came.append(number)
        signal.default_int_handler(number, frame)

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    previous = signal.signal(signal.SIGINT, interrupt)
    try:
        yield lambda: bool(came)
    finally:
        signal.signal(signal.SIGINT, previous)
