"""The board that is plugged in: its serial line, and the firmware of a build known to be on it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from edgec.base.errors import ConfigError, SimulationError
from edgec.sim.link import NO_ANSWER, RequestError
from edgec.sim.protocol import FirmwareClient
from edgec.sim.replies import FirmwareInfo
from edgec.sim.serial_port import SerialStream, find_port, open_serial
from edgec.target.board import Board

_REPLY_TIMEOUT_S = 2.0
"""The longest small reply is 50 ms of line at 115,200 baud."""
_DIGEST_LENGTH = 16
"""Characters of a digest that the firmware says."""
_AGAIN = "press its reset button, or unplug it and plug it in again; then repeat the command"


@dataclass(frozen=True, slots=True)
class Flashed:
    """Firmware that the board is expected to run.

    Attributes:
        board: the board that the firmware was built for.
        digest: SHA-256 of the model, or its first 16 hexadecimal digits.
        folder: the build folder, as a command takes it.
    """

    board: Board
    digest: str
    folder: str

    @property
    def remedy(self) -> str:
        """Command that writes the firmware to the board."""
        return f"write this build to it: edgec flash {self.folder}"


@contextlib.contextmanager
def open_device(
    wanted: Flashed, port: str | None = None, *, run_timeout_s: float = 300.0
) -> Iterator[FirmwareClient]:
    """The firmware on the board that is plugged in, its model selected; closed after the block.

    Args:
        wanted: what must run there.
        port: the board's serial port, or a URL like socket://localhost:4000; None: the one port
            that a board of this kind has.
        run_timeout_s: longest wait for a run of the model.

    Raises:
        ConfigError: a board without a serial line, or one that runs another model.
        SimulationError: no board, no permission, a port in use, no answer, other firmware, or, in
            the block, a line that is cut or a fault.
    """
    console = wanted.board.console
    if console is None:
        raise ConfigError(
            "has no serial line to its firmware",
            where=wanted.board.name,
            hint="--on device is for microcontrollers; use --on emulator or --on host",
        )
    name = find_port(wanted.board) if port is None else port
    with open_serial(name, console.baud) as stream:
        client = _connected(stream, wanted, name, run_timeout_s)
        try:
            _select(client, wanted, name)
            yield client
        except SimulationError as error:
            error.where = error.where or name
            if not error.hint and not isinstance(error, RequestError):
                error.hint = _AGAIN
            raise


def _connected(
    stream: SerialStream, wanted: Flashed, port: str, run_timeout_s: float
) -> FirmwareClient:
    try:
        return FirmwareClient(stream, reply_timeout_s=_REPLY_TIMEOUT_S, run_timeout_s=run_timeout_s)
    except SimulationError as error:
        if not error.what.startswith(NO_ANSWER):  # it stopped at a fault, or the line is cut
            error.where = error.where or port
            error.hint = error.hint or _AGAIN
            raise
        if stream.received_bytes == 0:
            what = "the board does not answer: nothing comes back"
        else:
            what = f"what answers is not firmware of edgec: {error.what}"
        raise SimulationError(what, where=port, hint=wanted.remedy) from error


def _select(client: FirmwareClient, wanted: Flashed, port: str) -> None:
    """Make the wanted model the one that runs, of firmware with one or several."""
    info = client.info()
    if info.board != wanted.board.name:
        raise ConfigError(
            f"runs firmware for {info.board}, not for {wanted.board.name}",
            where=port,
            hint=wanted.remedy,
        )
    first = info
    for index in range(1, info.models + 1):
        if info.digest == wanted.digest[:_DIGEST_LENGTH]:
            return
        if index < info.models:
            client.select(index)
            info = client.info()
    raise _another(first, wanted, port)


def _another(info: FirmwareInfo, wanted: Flashed, port: str) -> ConfigError:
    more = f" and {info.models - 1} more" if info.models > 1 else ""
    return ConfigError(
        f"the board runs another model: {info.model}{more} (digest {info.digest}, "
        f"not {wanted.digest[:_DIGEST_LENGTH]})",
        where=port,
        hint=wanted.remedy,
    )
