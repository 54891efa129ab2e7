"""Abilities in which operating systems differ, asked of the system and not of its name.

Windows has no user numbers, no descriptors of folders, no `flock` and fewer signals.  Everything
that other modules need of these is here, with the answer of systems that lack it.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    HAS_FLOCK = False
else:
    HAS_FLOCK = True

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
ENDING: tuple[signal.Signals, ...] = tuple(
    signal.Signals[name] for name in _NAMES if hasattr(signal, name)
)
"""Signals with which a person, a service manager or a closed terminal ends a command."""
ALARM: tuple[signal.Signals, ...] = tuple(
    signal.Signals[name] for name in ("SIGALRM",) if hasattr(signal, name)
)
"""The signal of `ring`, where the system has one; else `ring` acts like Ctrl-C."""

HAS_DIR_FD = os.open in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")
"""Whether a folder can be opened, and files named from there."""
NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
FOLDER: int = getattr(os, "O_DIRECTORY", 0)
AT_ONCE: int = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
CLOSED_IN_CHILDREN: int = getattr(os, "O_CLOEXEC", 0)
"""Flags of `os.open`; 0 where the system has none of that kind."""

LIBRARY_SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")
"""The end of the names of shared libraries."""

_timers: list[Any] = []


def ring(seconds: float) -> None:
    """Interrupt the main thread once after a time; 0.0: never mind."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        return
    import threading  # noqa: PLC0415

    while _timers:
        _timers.pop().cancel()
    if seconds:
        timer = threading.Timer(seconds, _thread.interrupt_main)
        timer.daemon = True
        _timers.append(timer)
        timer.start()


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def user_id() -> int | None:
    """The number of the user who runs this process; None where the system has no such numbers."""
    return os.getuid() if hasattr(os, "getuid") else None


def effective_user_id() -> int | None:
    """The number of the user whose rights this process has; None as of `user_id`."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def lock_descriptor(descriptor: int, *, wait: bool) -> None:
    """Lock an open file or folder until its descriptor is closed; only where `HAS_FLOCK`.

    Raises:
        OSError: another process holds it and we do not wait, or the file system has no locks.
    """
    fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def lock_file(path: Path, *, wait: bool) -> Callable[[], None]:
    """Lock a file, which is made, where descriptors cannot be locked.

    Returns:
        A function that gives the lock up; it may remove the file.

    Raises:
        OSError: another process holds it and we do not wait.
    """
    from filelock import FileLock  # noqa: PLC0415  (not needed on POSIX)

    lock = FileLock(path)
    lock.acquire(timeout=-1 if wait else 0)
    return lock.release


def forbids_programs(folder: Path) -> bool:
    """Whether no program runs in a folder, so far as the system tells (`noexec` of Linux)."""
    if not hasattr(os, "statvfs") or not hasattr(os, "ST_NOEXEC"):
        return False
    return bool(os.statvfs(folder).f_flag & os.ST_NOEXEC)


def command_line(words: Iterable[object]) -> str:
    """Words of a command as the shell of this system reads them."""
    import shlex  # noqa: PLC0415  (not needed by most commands)

    texts = [str(word) for word in words]
    if os.name != "nt":
        return shlex.join(texts)
    return " ".join(_in_quotes(text) for text in texts)


def _in_quotes(text: str) -> str:
    """A word for cmd.exe and PowerShell, which both keep backslashes."""
    plain = all(letter.isalnum() or letter in "-_=./\\:+" for letter in text)
    return text if text and plain else f'"{text}"'
