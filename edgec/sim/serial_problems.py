"""Why a serial port cannot be opened, in words, and what to do about it."""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

from edgec.base.errors import SimulationError
from edgec.sim.serial_ports import port_names

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
