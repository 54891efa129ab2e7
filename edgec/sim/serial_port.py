"""A board's serial port as a byte stream."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import serial as _untyped_serial

from edgec.base.errors import SimulationError

_serial: Any = _untyped_serial


class SerialStream:
    """Byte stream to and from a board; see `open_serial`."""

    def __init__(self, port: Any) -> None:
        self._port = port

    def write(self, data: bytes) -> None:
        """Send bytes.

        Raises:
            SimulationError: the port is gone.
        """
        try:
            self._port.write(data)
        except (_serial.SerialException, OSError) as error:
            raise _gone(str(self._port.port), error) from error

    def read(self, timeout_s: float) -> bytes:
        """At least one byte, or none after the time-out.

        Raises:
            SimulationError: the port is gone.
        """
        try:
            self._port.timeout = max(timeout_s, 0.0)
            first = self._port.read(1)
            return bytes(first + self._port.read(self._port.in_waiting)) if first else b""
        except (_serial.SerialException, OSError) as error:
            raise _gone(str(self._port.port), error) from error


@contextlib.contextmanager
def open_serial(port: str, baud: int) -> Iterator[SerialStream]:
    """Open a serial port, 8 data bits, no parity, 1 stop bit; closed when the block is left.

    Raises:
        SimulationError: it cannot be opened.
    """
    try:
        opened = _serial.Serial(port, baud)
    except (_serial.SerialException, OSError, ValueError) as error:
        raise _gone(port, error) from error
    with opened:
        yield SerialStream(opened)


def _gone(port: str, error: Exception) -> SimulationError:
    return SimulationError(
        f"cannot talk to the board: {error}",
        where=port,
        hint="is the board plugged in, and no other terminal open on its port?",
    )
