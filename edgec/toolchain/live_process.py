"""A running program that we talk to over its standard input and output."""

from __future__ import annotations

import contextlib
import os
import queue
import select
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from edgec.base.errors import SimulationError
from edgec.toolchain import process
from edgec.toolchain.confined import confined

_READ_BYTES = 65536
_WAITS_FOR_PIPES = os.name != "nt"
"""Whether `select` takes pipes; on Windows a thread reads them, and we wait for that thread."""


class StreamingProcess:
    """Byte stream to and from a child process; see `open_stream`."""

    def __init__(self, child: subprocess.Popen[bytes], name: str) -> None:
        self._child = child
        self._name = name
        self._parts: queue.SimpleQueue[bytes] | None = None

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
        """Read output of the program: at least one byte, or none after the time-out.

        Raises:
            SimulationError: the program has ended and all it wrote has been read.
        """
        output = self._child.stdout
        if output is None:
            raise self._ended()
        if _WAITS_FOR_PIPES:
            ready, _, _ = select.select([output], [], [], max(timeout_s, 0.0))
            if not ready:
                return b""
            data = os.read(output.fileno(), _READ_BYTES)
        else:
            try:
                data = self._read_by_thread(output.fileno()).get(timeout=max(timeout_s, 0.0))
            except queue.Empty:
                return b""
        if not data:
            raise self._ended()
        return data

    def _read_by_thread(self, descriptor: int) -> queue.SimpleQueue[bytes]:
        """Parts of the output as they come, an empty one at its end."""
        if self._parts is None:
            parts = self._parts = queue.SimpleQueue()

            def read() -> None:
                data = b"more"
                while data:
                    try:
                        data = os.read(descriptor, _READ_BYTES)
                    except OSError:  # closed by us
                        data = b""
                    parts.put(data)

            threading.Thread(target=read, daemon=True).start()
        return self._parts

    def read_all(self, size: int) -> bytes:
        """Read exactly `size` bytes of the program's output, however long it takes.

        Raises:
            SimulationError: the program has ended before it wrote as many.
        """
        output = self._child.stdout
        data = b"" if output is None else output.read(size)
        if len(data) < size:
            raise self._ended()
        return data

    def _ended(self) -> SimulationError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(timeout=1.0)
        status = self._child.returncode
        return SimulationError(f"{self._name} ended unexpectedly (exit status {status})")


@contextlib.contextmanager
def open_stream(argv: Sequence[str | Path], *, quiet: bool = False) -> Iterator[StreamingProcess]:
    """Start a program, confined, and talk to it.

    The program and its children are dead when the block is left.

    Args:
        argv: program and arguments.
        quiet: its error messages are dropped; else they appear in its output.

    Raises:
        BuildError: the program cannot be started.
    """
    stderr = subprocess.DEVNULL if quiet else subprocess.STDOUT
    with process.start(confined(argv), stderr=stderr) as child:
        yield StreamingProcess(child, Path(argv[0]).name)
