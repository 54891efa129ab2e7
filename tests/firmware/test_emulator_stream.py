"""Programs at the other end of a byte stream."""

from __future__ import annotations

import sys
import time

import pytest

from edgec.base.errors import BuildError, SimulationError
from edgec.toolchain.live_process import open_stream

_ECHO = "import sys\nfor line in sys.stdin: print(line.upper(), end='', flush=True)"


def test_both_directions_and_time_out() -> None:
    with open_stream([sys.executable, "-c", _ECHO]) as stream:
        stream.write(b"hello\n")
        received = b""
        while not received.endswith(b"\n"):
            received += stream.read(10.0)
        assert received == b"HELLO\n"
        began = time.monotonic()
        assert stream.read(0.05) == b""
        assert time.monotonic() - began >= 0.04
        assert stream.read(-1.0) == b""


def test_a_program_that_ends() -> None:
    with open_stream([sys.executable, "-c", "print('last words'); raise SystemExit(3)"]) as stream:
        received = b""
        with pytest.raises(SimulationError, match=r"ended unexpectedly \(exit status 3\)"):
            while True:
                received += stream.read(10.0)
        assert received == b"last words\n"
        with pytest.raises(SimulationError, match="ended unexpectedly"):
            for _ in range(100):
                stream.write(b"x" * 10_000)


def test_error_messages_are_part_of_the_output() -> None:
    code = "import sys; print('trouble', file=sys.stderr, flush=True); sys.stdin.read()"
    with open_stream([sys.executable, "-c", code]) as stream:
        received = b""
        while b"\n" not in received:
            received += stream.read(10.0)
        assert received == b"trouble\n"


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(BuildError, match="cannot start"), open_stream(["/no/such/program"]):
        pass
