"""Child processes: no shell, a clean environment, time limits, nothing left running.

Every child gets its own process group, so that a time-out or Ctrl-C ends its children too.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from edgec.base.errors import BuildError

_KEPT_VARIABLES = ("PATH", "HOME", "USER", "TMPDIR", "SYSTEMROOT", "XDG_RUNTIME_DIR")


@dataclass(frozen=True, slots=True)
class Completed:
    """A finished program: its exit status and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


def which(program: str) -> Path | None:
    """Where `program` is on PATH, or None."""
    found = shutil.which(program)
    return Path(found) if found else None


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The few variables a tool needs, English messages, and `extra`.

    Compilers and PlatformIO read dozens of variables (CPATH, CFLAGS, PLATFORMIO_*); leaving them
    out makes a build depend on its inputs alone.
    """
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    return {**kept, "LC_ALL": "C.UTF-8", **(extra or {})}


def run(
    argv: Sequence[str | Path],
    *,
    timeout_s: float,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Completed:
    """Run a program to its end, without input, and capture its output.

    Args:
        argv: program and arguments; no shell is involved.
        timeout_s: the program and its children are killed after this time.
        cwd: folder to run in.
        environment: the whole environment; default `clean_environment()`.

    Raises:
        BuildError: the program cannot be started or takes too long.
    """
    with start(argv, cwd=cwd, environment=environment, stdin=subprocess.DEVNULL) as child:
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
    try:
        child = subprocess.Popen(
            [str(argument) for argument in argv],
            cwd=cwd,
            env=dict(environment) if environment is not None else clean_environment(),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise BuildError(f"cannot start {_program(argv)}: {error}") from error
    try:
        yield child
    finally:
        _end(child)


def _program(argv: Sequence[str | Path]) -> str:
    return Path(argv[0]).name


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill the group even if its leader has ended: its children may have outlived it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
    child.wait()
