"""A running program that we talk to over its standard input and output."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from edgec.base.errors import SimulationError
from edgec.toolchain import process

_READ_BYTES = 65536


class StreamingProcess:
    """Byte stream to and from a child process; see `open_stream`."""

    def __init__(self, child: subprocess.Popen[bytes], name: str) -> None:
        self._child = child
        self._name = name

    def write(self, data: bytes) -> None:
        """Send bytes to the program's standard input.

        Raises:
            SimulationError: the program has ended.
        """
        pipe = self._child.stdin
        if pipe is None:
            raise self._ended()
        try:
            pipe.write(data)
            pipe.flush()
        except (BrokenPipeError, ValueError) as error:
            raise self._ended() from error

    def read(self, timeout_s: float) -> bytes:
        """What the program has written: at least one byte, or none after the time-out.

        Raises:
            SimulationError: the program has ended and all it wrote has been read.
        """
        output = self._child.stdout
        if output is None:
            raise self._ended()
        ready, _, _ = select.select([output], [], [], max(timeout_s, 0.0))
        if not ready:
            return b""
        data = os.read(output.fileno(), _READ_BYTES)
        if not data:
            raise self._ended()
        return data

    def _ended(self) -> SimulationError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(timeout=1.0)
        status = self._child.returncode
        return SimulationError(f"{self._name} ended unexpectedly (exit status {status})")


@contextlib.contextmanager
def open_stream(argv: Sequence[str | Path]) -> Iterator[StreamingProcess]:
    """Start a program and talk to it; its error messages appear in its output.

    The program and its children are dead when the block is left.

    Raises:
        BuildError: the program cannot be started.
    """
    with process.start(argv, stderr=subprocess.STDOUT) as child:
        yield StreamingProcess(child, Path(argv[0]).name)
