"""The serial ports of this computer, and which of them is a board's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

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
