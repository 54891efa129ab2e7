"""A board's serial port as a byte stream."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import serial as _untyped_serial

from edgec.base.errors import SimulationError
from edgec.sim.serial_problems import cannot_open, in_use

_serial: Any = _untyped_serial
_READ_BYTES = 65536
_WRITE_TIMEOUT_S = 10.0


class SerialStream:
    """Byte stream to and from a board; see `open_serial`.

    Attributes:
        received_bytes: bytes that have come so far.
    """

    def __init__(self, port: Any) -> None:
        self._port = port
        self.received_bytes = 0

    def write(self, data: bytes) -> None:
        """Send bytes.

        Raises:
            SimulationError: the port is gone, or takes nothing any more.
        """
        try:
            self._port.write(data)
        except (_serial.SerialException, OSError) as error:
            raise self._cut(error) from error

    def read(self, timeout_s: float) -> bytes:
        """At least one byte, or none after the time-out.

        Raises:
            SimulationError: the port is gone.
        """
        try:
            self._port.timeout = max(timeout_s, 0.0)
            data = bytes(self._port.read(1))
            if data:
                self._port.timeout = 0.0  # what else is there, without waiting for more
                data += bytes(self._port.read(_READ_BYTES))
        except (_serial.SerialException, OSError) as error:
            raise self._cut(error) from error
        self.received_bytes += len(data)
        return data

    def _cut(self, error: Exception) -> SimulationError:
        return SimulationError(
            f"the line to the board was cut: {error}",
            where=str(self._port.port),
            hint="is it still plugged in, and no other program on its port? then try again",
        )


@contextlib.contextmanager
def open_serial(port: str, baud: int) -> Iterator[SerialStream]:
    """Open a serial port, 8 data bits, no parity, 1 stop bit; closed when the block is left.

    While it is open, no other edgec can open it.

    Args:
        port: its name, or a URL that pyserial knows, like `socket://localhost:4000`.
        baud: bits a second; without effect over a socket.

    Raises:
        SimulationError: it cannot be opened; the message says why and what to do.
    """
    try:
        opened = _serial.serial_for_url(
            port, baud, do_not_open=True, write_timeout=_WRITE_TIMEOUT_S
        )
        opened.exclusive = True
        opened.open()
    except (_serial.SerialException, OSError, ValueError, TypeError) as error:
        raise cannot_open(port, error) from error
    with opened:
        user = in_use(port)
        if user is not None:
            raise user
        yield SerialStream(opened)
