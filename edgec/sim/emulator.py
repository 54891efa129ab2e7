"""The very `firmware.elf` of a build, run in an emulator and driven through its own protocol."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError, InternalError, SimulationError
from edgec.sim.emulator_image import FirmwareImage, load_image
from edgec.sim.link import ByteStream
from edgec.sim.linux_program import load_program
from edgec.sim.protocol import FirmwareClient, FirmwareRun
from edgec.sim.qemu import open_qemu, open_qemu_user, qemu_user
from edgec.sim.replies import FirmwareInfo
from edgec.target.board import Board
from edgec.toolchain.live_process import open_stream
from edgec.toolchain.platformio import FirmwareFiles


class EmulatedFirmware:
    """Firmware in an emulator; a context manager.

    The emulators model what the processor does, not how long it takes, so runs have no cycles.

    Args:
        elf: the firmware; on the host board, a native program.
        board: the board it was built for.
        run_timeout_s: longest wait for one run of the model.
    """

    def __init__(self, elf: Path, board: Board, *, run_timeout_s: float = 300.0) -> None:
        self._elf = elf
        self._board = board
        self._run_timeout_s = run_timeout_s
        self._resources = contextlib.ExitStack()
        self._client: FirmwareClient | None = None

    def __enter__(self) -> EmulatedFirmware:
        """Start the emulator and wait for the firmware.

        Raises:
            ConfigError: the emulator is not installed.
            SimulationError: the firmware is missing, does not fit the board, or does not answer.
        """
        image = None if self._board.is_hosted else load_image(self._elf, self._board)
        with contextlib.ExitStack() as resources:
            stream = resources.enter_context(_open(self._elf, image, self._board))
            self._client = FirmwareClient(
                stream,
                run_timeout_s=self._run_timeout_s,
                locate=None if image is None else image.locate,
            )
            self._resources = resources.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the emulator."""
        self._client = None
        self._resources.close()

    @property
    def client(self) -> FirmwareClient:
        """The conversation with the firmware."""
        if self._client is None:
            raise InternalError("the emulator is not running", where=str(self._elf))
        return self._client

    def info(self) -> FirmwareInfo:
        """Answer of the firmware to `info`."""
        return self.client.info()

    def run(self, inputs: Sequence[Array], *, trace: bool = False) -> FirmwareRun:
        """Run the model once.

        Args:
            inputs: int8, one array per model input, in the model's order.
            trace: also report the CRC-32 of every step's output tensor.

        Returns:
            Outputs as flat arrays; `cycles` is None.

        Raises:
            SimulationError: wrong inputs, a fault, or no answer.
        """
        result = self.client.trace(inputs) if trace else self.client.run(inputs)
        return replace(result, cycles=None)


def native_program(board: Board) -> str:
    """Program that runs a board's firmware with this computer's own system calls; "" for none.

    QEMU's emulation of a Linux program passes them on: it is no sandbox.
    """
    if board.is_host:
        return FirmwareFiles.ELF
    return qemu_user(board) if board.emulator.kind == "qemu-user" else ""


@contextlib.contextmanager
def emulated_stream(elf: Path, board: Board) -> Iterator[ByteStream]:
    """The console of firmware in an emulator, for programs that speak another protocol.

    Args:
        elf: the firmware; on the host board, a native program.
        board: the board it was built for.

    Raises:
        ConfigError: the emulator is not installed.
        SimulationError: the firmware is missing or does not fit the board.
    """
    image = None if board.is_hosted else load_image(elf, board)
    with _open(elf, image, board) as stream:
        yield stream


@contextlib.contextmanager
def _open(elf: Path, image: FirmwareImage | None, board: Board) -> Iterator[ByteStream]:
    if board.is_host:
        if not elf.is_file():
            raise SimulationError("there is no such program", where=str(elf))
        with open_stream([elf.absolute()]) as stream:
            yield stream
    elif board.emulator.kind == "qemu-user":
        load_program(elf, board)
        with open_qemu_user(elf, board) as stream:
            yield stream
    elif board.emulator.kind == "qemu":
        with open_qemu(elf, board) as stream:
            yield stream
    elif board.emulator.kind == "unicorn" and image is not None:
        yield _open_unicorn(image, board)
    else:
        raise SimulationError("no emulator can run this board's firmware", where=board.name)


def _open_unicorn(image: FirmwareImage, board: Board) -> ByteStream:
    try:
        from edgec.sim.unicorn_machine import UnicornMachine  # noqa: PLC0415  (optional extra)
    except ModuleNotFoundError as error:
        if error.name != "unicorn":
            raise
        raise ConfigError(
            f"emulating {board.name} needs Unicorn, which is not installed",
            hint="pip install unicorn capstone",
        ) from error
    return UnicornMachine(image, board)
