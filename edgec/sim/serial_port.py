"""A board's serial port as a byte stream.

The serial ports of this computer, and which of them is a board's.

Errors of serial ports that cannot be opened: reason in words, and remedy.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import serial as _untyped_serial

from edgec.base.errors import SimulationError
from edgec.target.board import Board
from edgec.target.debug_probes import UsbId, usb_ids


@dataclass(frozen=True, slots=True)
class SerialPort:
    """A serial port.

    Attributes:
        name: what opens it.
        usb: vendor and product number; None where it is not on USB.
        words: what the system says it is.
    """

    name: str
    usb: UsbId | None = None
    words: str = ""


def serial_ports() -> tuple[SerialPort, ...]:
    """The serial ports that the system knows, by name."""
    tools: Any = import_module("serial.tools.list_ports")
    found = (
        SerialPort(
            str(each.device),
            None if each.vid is None or each.pid is None else (int(each.vid), int(each.pid)),
            str(each.description or ""),
        )
        for each in tools.comports()
    )
    return tuple(sorted(found, key=lambda port: port.name))


def port_names() -> tuple[str, ...]:
    """Names of the ports on USB."""
    return tuple(port.name for port in serial_ports() if port.usb is not None)


def find_port(board: Board) -> str:
    """The port of the one board of this kind that is plugged in.

    Raises:
        SimulationError: there is none, or more than one.
    """
    return choose_port(serial_ports(), board)


def choose_port(ports: Sequence[SerialPort], board: Board) -> str:
    """The one of `ports` that a board's debug probe has; see `find_port`."""
    ids = usb_ids(board)
    fitting = [port for port in ports if port.usb in ids]
    if len(fitting) == 1:
        return fitting[0].name
    if fitting:
        raise SimulationError(
            f"{len(fitting)} ports may be the board's: {_listed(fitting)}",
            where=board.name,
            hint=f"say which: --port {fitting[0].name}",
        )
    others = [port for port in ports if port.usb is not None]
    if others:
        raise SimulationError(
            f"no port is known to be the board's; there are {_listed(others)}",
            where=board.name,
            hint=f"say which: --port {others[0].name}",
        )
    raise SimulationError(
        "no board is plugged in",
        where=board.name,
        hint="connect it by its USB cable, or name its port: --port /dev/ttyACM0",
    )


def _listed(ports: Iterable[SerialPort]) -> str:
    return ", ".join(f"{port.name} ({port.words})" if port.words else port.name for port in ports)


_PROCESSES = Path("/proc")
_WHAT = "cannot talk to the board"


def cannot_open(port: str, error: Exception) -> SimulationError:
    """The error for a port that pyserial could not open."""
    number = _number(error)
    if number in (errno.ENOENT, errno.ENODEV, errno.ENXIO):
        return _error(port, "there is no such port", _ports_there())
    if number in (errno.EACCES, errno.EPERM):
        return _error(port, "you have no permission to open the port", _permission(port))
    if number in (errno.EBUSY, errno.EAGAIN):
        return in_use(port) or _in_use(port, "", "end that program, or close its connection")
    if number == errno.ECONNREFUSED:
        return _error(port, "nothing listens there", "start what has the board's serial line")
    if number in (errno.ENOTTY, errno.EINVAL, errno.EISDIR):
        return _error(port, "this is not a serial port", _ports_there())
    return _error(port, str(error), "--port takes /dev/ttyACM0, COM3 or socket://host:4000")


def in_use(port: str) -> SimulationError | None:
    """The error for a terminal that another program has open, so far as Linux shows it; else None.

    Two programs on one port each get a part of what the board says.
    """
    user = _user(port)
    if user is None:
        return None
    number, name = user
    return _in_use(port, f": {name} (process {number})", f"close it, or end it: kill {number}")


def _in_use(port: str, who: str, hint: str) -> SimulationError:
    return _error(port, f"another program has the port open{who}", hint)


def _error(port: str, why: str, hint: str) -> SimulationError:
    return SimulationError(f"{_WHAT}: {why}", where=port, hint=hint)


def _number(error: BaseException | None) -> int | None:
    """The system's number of an error, or of the one that led to it."""
    while error is not None:
        # termios.error has no attribute for it.
        for number in (getattr(error, "errno", None), *error.args[:1]):
            if isinstance(number, int):
                return number
        error = error.__cause__ or error.__context__
    return None


def _ports_there() -> str:
    names = port_names()
    if not names:
        return "no serial port is plugged in: connect the board by its USB cable"
    return f"ports that are there: {', '.join(names)}"


def _permission(port: str) -> str:
    group = "dialout"
    with contextlib.suppress(OSError, KeyError, ImportError):
        import grp  # noqa: PLC0415  (not on Windows)

        group = grp.getgrgid(Path(port).stat().st_gid).gr_name
    return (
        f"sudo usermod -aG {group} $USER, then log in again; or the udev rule of "
        "docs/on-the-board.md"
    )


def _user(port: str) -> tuple[int, str] | None:
    """Number and name of another process that has the port open."""
    path = Path(port)
    if not path.is_char_device() or not _PROCESSES.is_dir():
        return None
    device = str(path.resolve())
    for process in _PROCESSES.iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            with contextlib.suppress(OSError):  # ended meanwhile, or not ours to look into
                if any(str(link.readlink()) == device for link in (process / "fd").iterdir()):
                    return int(process.name), (process / "comm").read_text("utf-8").strip()
    return None


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
