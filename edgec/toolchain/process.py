"""Child processes: no shell, a clean environment, time limits, nothing left running.

Every child gets its own process group, so that a time-out, Ctrl-C, SIGTERM or SIGHUP ends its
children too.  On Windows the processes that a child has started are found by their parents.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from edgec.base.errors import BuildError
from edgec.base.interrupts import interrupts_deferred

_KEPT_VARIABLES = (
    *("PATH", "HOME", "USER", "TMPDIR", "SYSTEMROOT", "XDG_RUNTIME_DIR"),
    *("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"),  # a Python with its own libraries starts SCons
)
_KEPT_ON_WINDOWS = (
    *("TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES"),
    *("PATHEXT", "COMSPEC", "SYSTEMDRIVE", "WINDIR", "PROCESSOR_ARCHITECTURE"),
)
"""Without these, programs of Windows find neither shell nor folders."""
_HAS_GROUPS = hasattr(os, "killpg")
_NEW_GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)


@dataclass(frozen=True, slots=True)
class Completed:
    """A finished program: its exit status and what it wrote."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def ending(self) -> str:
        """The end of the process, in words."""
        if self.returncode >= 0:
            return f"it ended with exit status {self.returncode}"
        return f"it was ended by {signal.Signals(-self.returncode).name}"

    def ended_by(self, number: int) -> bool:
        """Whether a signal ended it, or a program that it ran, as shells and SCons count."""
        return self.returncode in (-number, 128 + number)


def which(program: str) -> Path | None:
    """Path of `program` on PATH, or None."""
    found = shutil.which(program)
    return Path(found) if found else None


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The few variables a tool needs, English messages, and `extra`.

    Compilers and PlatformIO read dozens of variables (CPATH, CFLAGS, PLATFORMIO_*); leaving them
    out makes a build depend on its inputs alone.
    """
    names = (*_KEPT_VARIABLES, *(_KEPT_ON_WINDOWS if os.name == "nt" else ()))
    kept = {name: os.environ[name] for name in names if name in os.environ}
    return {**kept, "LC_ALL": "C.UTF-8", **(extra or {})}


def run(
    argv: Sequence[str | Path],
    *,
    timeout_s: float,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    family: Family | None = None,
) -> Completed:
    """Run a program to its end, without input, and capture its output.

    Args:
        argv: program and arguments; no shell is involved.
        timeout_s: the program and its children are killed after this time.
        cwd: folder to run in.
        environment: the whole environment; default `clean_environment()`.
        family: programs with which it is ended.

    Raises:
        BuildError: the program cannot be started or takes too long.
    """
    with start(argv, cwd=cwd, environment=environment, stdin=subprocess.DEVNULL) as child:
        if family is not None:
            family.add(child)
        try:
            stdout, stderr = child.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired as error:
            raise BuildError(
                f"{_program(argv)} did not finish within {timeout_s:.0f} s", where=str(cwd or "")
            ) from error
        return Completed(
            child.returncode, stdout.decode(errors="replace"), stderr.decode(errors="replace")
        )


@contextlib.contextmanager
def start(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
) -> Iterator[subprocess.Popen[bytes]]:
    """A running program with byte pipes; it and its children are dead when the block is left.

    Raises:
        BuildError: the program cannot be started.
    """
    child = None
    try:
        # A signal between the start and the assignment would leave the program running.
        with interrupts_deferred():
            child = _started(argv, cwd, environment, stdin, stderr)
        yield child
    finally:
        if child is not None:
            with interrupts_deferred():
                _end(child)


def _started(
    argv: Sequence[str | Path],
    cwd: Path | None,
    environment: Mapping[str, str] | None,
    stdin: int,
    stderr: int,
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [str(argument) for argument in argv],
            cwd=cwd,
            env=dict(environment) if environment is not None else clean_environment(),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=_HAS_GROUPS,
            creationflags=_NEW_GROUP,
        )
    except (OSError, ValueError) as error:
        raise BuildError(f"cannot start {_program(argv)}: {error}") from error


class Family:
    """Programs that several threads run, to be ended together when the block is left.

    A thread cannot be interrupted while it waits for a program; ending the program wakes it.
    """

    def __init__(self) -> None:
        self._children: list[subprocess.Popen[bytes]] = []
        self._ended = False
        self._lock = threading.Lock()

    def __enter__(self) -> Family:
        return self

    def __exit__(self, *_: object) -> None:
        with interrupts_deferred(), self._lock:
            self._ended = True
            for child in self._children:
                if child.poll() is None:
                    _kill_group(child)

    def add(self, child: subprocess.Popen[bytes]) -> None:
        """Take a program in, or end it if the others have been ended."""
        with self._lock:
            self._children.append(child)
            if self._ended:
                _kill_group(child)


def _program(argv: Sequence[str | Path]) -> str:
    return Path(argv[0]).name


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill the group even if its leader has ended: its children may have outlived it."""
    _kill_group(child)
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    child.wait()


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    if not _HAS_GROUPS:
        _kill_tree(child.pid)
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def _kill_tree(root: int) -> None:
    """Kill a process and those that it has started, even if it has ended itself.

    The number of a process lasts as long as its `Popen`, and processes keep that of their parent.
    """
    import psutil  # noqa: PLC0415  (not needed where processes have groups)

    family, found = {root}, []
    with contextlib.suppress(psutil.Error):
        # Parents come before their children; facts that the system hides are None.
        running = psutil.process_iter(["pid", "ppid", "create_time"])
        for each in sorted(running, key=lambda each: each.info["create_time"] or 0.0):
            if each.pid == root or each.info["ppid"] in family:
                family.add(each.pid)
                found.append(each)
    for each in found:
        with contextlib.suppress(psutil.Error):
            each.kill()


def temporary_variables(folder: Path) -> dict[str, str]:
    """Variables that name the folder for temporary files, for programs of any system."""
    return dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(folder))
