"""Firmware for MLPerf Tiny's runner, driven as the runner of mlcommons/tiny does.

firmware/app/mlperf/runner.h describes the commands.
"""

from __future__ import annotations

import time

from edgec.base.errors import SimulationError
from edgec.sim.link import ByteStream

_BYTES_OF_A_COMMAND = 31
"""Most bytes in one `db` command of the runner; the whole command has less than 80 characters."""
_READY = "m-ready"
_SHOWN_LINES = 5


class RunnerClient:
    """Sends commands and returns what is answered.

    Args:
        stream: connection to the firmware; it has just started.
        timeout_s: longest wait for an answer.

    Attributes:
        greeting: the lines that it said at its start.

    Raises:
        SimulationError: it does not say that it is ready.
    """

    def __init__(self, stream: ByteStream, timeout_s: float = 300.0) -> None:
        self._stream = stream
        self._timeout_s = timeout_s
        self._received = bytearray()
        self.greeting = self._answer("start")

    def command(self, text: str) -> tuple[str, ...]:
        """The lines of the answer to a command, without the closing `m-ready`.

        Raises:
            SimulationError: an error is answered, or nothing in time.
        """
        self._stream.write(f"{text}%".encode("ascii"))
        lines = self._answer(text)
        errors = [line for line in lines if line.startswith("e-")]
        if errors:
            raise SimulationError(f"the firmware answers {text[:40]!r} by {errors[0]}")
        return lines

    def load(self, data: bytes) -> None:
        """Send an input.

        Raises:
            SimulationError: it is not taken.
        """
        self.command(f"db load {len(data)}")
        lines: tuple[str, ...] = ()
        for start in range(0, len(data), _BYTES_OF_A_COMMAND):
            lines = self.command(f"db {data[start : start + _BYTES_OF_A_COMMAND].hex()}")
        if "m-load-done" not in lines:
            raise SimulationError("the firmware does not say that its input is there")

    def infer(self, times: int, warmup: int) -> str:
        """Run the model; what the line of results holds between its brackets.

        Raises:
            SimulationError: no results come.
        """
        for line in self.command(f"infer {times} {warmup}"):
            if line.startswith("m-results-["):
                return line.removeprefix("m-results-[").removesuffix("]")
        raise SimulationError("the firmware gives no results")

    def _answer(self, command: str) -> tuple[str, ...]:
        lines: list[str] = []
        deadline = time.monotonic() + self._timeout_s
        while True:
            while (end := self._received.find(b"\n")) >= 0:
                line = bytes(self._received[:end]).decode("ascii", errors="replace").rstrip("\r")
                del self._received[: end + 1]
                if line == _READY:
                    return tuple(lines)
                lines.append(line)
            data = self._stream.read(max(deadline - time.monotonic(), 0.0))
            if not data:
                last = "\n  ".join(lines[-_SHOWN_LINES:])
                raise SimulationError(
                    f"the firmware is not ready after {command[:40]!r}:\n  {last}"
                )
            self._received += data
