"""Requests and replies of the firmware's serial protocol over any byte stream.

The lower half of the client: checksums, time-outs, repetition after noise, faults.  The format is
described in firmware/app/console/protocol.h.
"""

from __future__ import annotations

import re
import time
import zlib
from collections import deque
from collections.abc import Callable
from typing import Protocol

from edgec.base.errors import SimulationError

NO_ANSWER = "the firmware does not answer"
"""Beginning of the message where nothing that came was an answer."""
MOST_FRAME_BYTES = 1024
"""Most bytes that follow a request; see `Link.send_frame`."""
_FRAME_MARGIN = 16
"""Line feeds that stand for a frame's CRC, and for a few that are lost."""
HEARD = "heard="
"""Begin of a line that firmware sends by itself: the number of a result, and its codes."""
_MOST_HEARD = 1000
_ATTEMPTS = 4
_CONSOLE_LINES = 30
_MAX_LINE_BYTES = 4096
_FAULT_SETTLE_S = 0.3
_FAULT_END = "halted"
_PROGRAM_COUNTER = re.compile(r"\bpc=([0-9a-f]{8})\b")


class ByteStream(Protocol):
    """Two-way connection to firmware: a pipe, an emulator, a serial port."""

    def write(self, data: bytes) -> None:
        """Send bytes; SimulationError when the other end is gone."""

    def read(self, timeout_s: float) -> bytes:
        """At least one byte; none after the time-out, or when no more can come without a write.

        Raises:
            SimulationError: the other end is gone.
        """


class RequestError(SimulationError):
    """The firmware answered a request with an error."""


class _NoiseError(Exception):
    """A request or its reply was lost or damaged; sending it again may help."""


class _SilenceError(_NoiseError):
    """No reply in time."""


class Link:
    """Sends requests and returns what the firmware replies.

    Args:
        stream: connection to the firmware.
        reply_timeout_s: how long a reply may take, unless a request says otherwise.
        locate: puts a code address into words, for fault messages.
    """

    def __init__(
        self,
        stream: ByteStream,
        reply_timeout_s: float = 10.0,
        locate: Callable[[int], str] | None = None,
    ) -> None:
        self._stream = stream
        self._locate = locate
        self._reply_timeout_s = reply_timeout_s
        self._received = bytearray()
        self._console: deque[str] = deque(maxlen=_CONSOLE_LINES)
        self._heard: deque[str] = deque(maxlen=_MOST_HEARD)
        self._syncs = 0
        self._unread = 0

    def synchronise(self) -> None:
        """Skip whatever is on the line until the firmware answers a fresh `ping`.

        Raises:
            SimulationError: it does not answer.
        """
        for attempt in range(_ATTEMPTS):
            self._syncs += 1
            word = f"sync{self._syncs}"
            # A frame that lost bytes, perhaps of an earlier program, takes line feeds for them.
            feeds = self._unread if attempt == 0 else MOST_FRAME_BYTES + _FRAME_MARGIN
            self._send(f"ping {word}", prefix="\n" * (1 + feeds))
            deadline = time.monotonic() + self._reply_timeout_s
            try:
                while self._read_line(deadline) != f"ping={word}":
                    pass
                if self._read_line(deadline) == _closing([f"ping={word}"]):
                    self._unread = 0
                    return
            except _NoiseError:
                continue
        raise self._failure(NO_ANSWER)

    def request(
        self,
        text: str,
        *,
        timeout_s: float | None = None,
        prepare: Callable[[], None] | None = None,
    ) -> tuple[str, ...]:
        """Send a request; the lines of its reply without the closing `ok`.

        A damaged request or reply is repeated.

        Args:
            text: the request; repeating it must be safe, at least after `prepare`.
            timeout_s: longest wait for a long computation; its absence is then not repeated.
            prepare: called before every attempt.

        Raises:
            RequestError: the firmware refuses the request.
            SimulationError: no (undamaged) reply, a fault, or the firmware is gone.
        """
        problem = ""
        for attempt in range(_ATTEMPTS):
            if attempt > 0:
                self.synchronise()
            if prepare is not None:
                prepare()
            try:
                return self._exchange(text, timeout_s or self._reply_timeout_s)
            except _SilenceError as silence:
                problem = str(silence)
                if timeout_s is not None:
                    break
            except _NoiseError as noise:
                problem = str(noise)
        raise self._failure(f"request {text[:40]!r} failed: {problem}")

    def heard(self, timeout_s: float) -> str | None:
        """The next line that the firmware sends by itself, without `HEARD`; None: none came.

        Raises:
            SimulationError: a fault, or the firmware is gone.
        """
        deadline = time.monotonic() + timeout_s
        try:
            while not self._heard:
                self._read_line(deadline, is_reply=False)
        except _NoiseError:
            return None
        return self._heard.popleft()

    def send_frame(self, text: str, data: bytes) -> bool:
        """Send a request that bytes follow, once.

        Args:
            text: the request.
            data: what follows it, at most MOST_FRAME_BYTES.

        Returns:
            Whether the bytes arrived; if not, both sides are together again.

        Raises:
            RequestError: the firmware refuses the request.
            SimulationError: a fault, or the firmware is gone.
        """
        self._unread = len(data) + _FRAME_MARGIN
        try:
            self._exchange(text, self._reply_timeout_s, data + zlib.crc32(data).to_bytes(4))
        except _NoiseError:
            self.synchronise()
            return False
        self._unread = 0
        return True

    def _exchange(self, text: str, timeout_s: float, after: bytes = b"") -> tuple[str, ...]:
        self._send(text, after=after)
        deadline = time.monotonic() + timeout_s
        lines: list[str] = []
        while True:
            line = self._read_line(deadline)
            if line.startswith("ok "):
                if line != _closing(lines):
                    raise _NoiseError("the reply does not match its checksum")
                return tuple(lines)
            if _is_nearly(line, _closing(lines)):
                raise _NoiseError("the end of the reply is damaged")
            if line.startswith("error: line"):
                raise _NoiseError(line)
            if line.startswith("error: "):
                details = ", ".join([*lines, line.removeprefix("error: ")])
                raise RequestError(f"the firmware refuses {text[:40]!r}: {details}")
            lines.append(line)

    def _send(self, text: str, prefix: str = "", after: bytes = b"") -> None:
        crc = zlib.crc32(text.encode("ascii"))
        try:
            self._stream.write(f"{prefix}*{crc:08x} {text}\n".encode("ascii") + after)
        except SimulationError as error:
            raise self._failure(error.what) from error

    def _read_line(self, deadline: float, *, is_reply: bool = True) -> str:
        """The next line; of a reply it is one that the firmware does not send by itself."""
        while True:
            line = self._next_line(deadline)
            if line.startswith("fault"):
                raise self._fault(line)
            if not line.startswith(HEARD):
                return line
            self._heard.append(line.removeprefix(HEARD))
            if not is_reply:
                return line

    def _next_line(self, deadline: float) -> str:
        while (end := self._received.find(b"\n")) < 0:
            if len(self._received) > _MAX_LINE_BYTES:
                self._received.clear()
                raise _NoiseError("the firmware sends a line without end")
            self._receive(deadline)
        line = bytes(self._received[:end]).decode("ascii", errors="replace").rstrip("\r")
        del self._received[: end + 1]
        self._console.append(line)
        return line

    def _receive(self, deadline: float) -> None:
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise _SilenceError("no answer in time")
        try:
            data = self._stream.read(remaining)
        except SimulationError as error:
            raise self._failure(error.what, hint=error.hint) from error
        if not data:
            raise _SilenceError("no answer in time")
        self._received += data

    def _fault(self, first: str) -> SimulationError:
        """Collect what the fault handler prints after its first line."""
        lines = [first]
        deadline = time.monotonic() + _FAULT_SETTLE_S
        while lines[-1] != _FAULT_END:
            try:
                lines.append(self._next_line(deadline))
            except (_NoiseError, SimulationError):
                break
        text = "\n  ".join(lines)
        counter = _PROGRAM_COUNTER.search(text)
        if counter is not None and self._locate is not None:
            text += f"\n  at {self._locate(int(counter[1], 16))}"
        return SimulationError(f"the firmware stopped at a fault:\n  {text}")

    def _failure(self, what: str, hint: str = "") -> SimulationError:
        tail = [*self._console]
        if self._received:
            tail.append(bytes(self._received[-200:]).decode("ascii", errors="replace"))
        shown = "\n  ".join(line for line in tail[-10:] if line)
        return SimulationError(
            f"{what}; last lines of its console:\n  {shown}" if shown else what, hint=hint
        )


def _is_nearly(line: str, wanted: str) -> bool:
    """Whether a line is another one with a damaged character."""
    return len(line) == len(wanted) and sum(map(str.__ne__, line, wanted)) == 1


def _closing(lines: list[str]) -> str:
    crc = zlib.crc32("".join(f"{line}\n" for line in lines).encode("utf-8"))
    return f"ok {crc:08x}"
