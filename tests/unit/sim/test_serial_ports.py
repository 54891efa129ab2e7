"""Which port is the board's, and why one cannot be opened."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
import serial

from edgec.base.errors import SimulationError
from edgec.sim.serial_port import SerialPort, cannot_open, choose_port, in_use, serial_ports
from edgec.target.board import list_boards, load_board
from edgec.target.debug_probes import usb_ids

NUCLEO = SerialPort("/dev/ttyACM0", (0x0483, 0x374B), "STM32 STLink")
V3 = SerialPort("/dev/ttyACM1", (0x0483, 0x374E), "STLINK-V3")
MICROBIT = SerialPort("/dev/ttyACM2", (0x0D28, 0x0204))
ADAPTER = SerialPort("/dev/ttyUSB0", (0x0403, 0x6001), "FT232R")
OLD = SerialPort("/dev/ttyS0")


def test_the_one_board_is_found_among_other_ports() -> None:
    ports = (OLD, ADAPTER, MICROBIT, NUCLEO)
    assert choose_port(ports, load_board("nucleo")) == NUCLEO.name
    assert choose_port(ports, load_board("microbit")) == MICROBIT.name
    assert choose_port((V3,), load_board("nucleo_u575zi_q")) == V3.name


@pytest.mark.parametrize(
    ("ports", "what", "hint"),
    [
        ((), "no board is plugged in", "USB cable"),
        ((OLD,), "no board is plugged in", "USB cable"),
        ((NUCLEO, V3), "2 ports may be the board's: /dev/ttyACM0 (STM32 STLink)", "/dev/ttyACM0"),
        ((ADAPTER, OLD), "there are /dev/ttyUSB0 (FT232R)", "--port /dev/ttyUSB0"),
    ],
)
def test_what_is_not_one_board(ports: tuple[SerialPort, ...], what: str, hint: str) -> None:
    with pytest.raises(SimulationError) as found:
        choose_port(ports, load_board("nucleo"))
    assert what in found.value.what
    assert hint in found.value.hint


def test_boards_with_a_known_probe() -> None:
    for board in list_boards():
        known = board.upload.openocd_interface in ("stlink", "cmsis-dap")
        assert bool(usb_ids(board)) == known, board.name
    assert all(isinstance(port, SerialPort) for port in serial_ports())


@pytest.mark.parametrize(
    ("number", "what", "hint"),
    [
        (errno.EACCES, "no permission", "usermod -aG"),
        (errno.ENOENT, "no such port", "port"),
        (errno.EBUSY, "another program has the port open", "end that program"),
        (errno.EWOULDBLOCK, "another program has the port open", "end that program"),
        (errno.ENOTTY, "not a serial port", "port"),
        (errno.EIO, "could not open port", "--port takes"),
    ],
)
def test_why_a_port_cannot_be_opened(number: int, what: str, hint: str) -> None:
    error = cannot_open("/dev/ttyNONE", serial.SerialException(number, "could not open port"))
    assert error.what.startswith("cannot talk to the board: ")
    assert what in error.what
    assert hint in error.hint
    assert error.where == "/dev/ttyNONE"


def test_what_is_no_terminal_is_in_nobodys_use(tmp_path: Path) -> None:
    assert in_use(str(tmp_path / "nothing")) is None
    assert in_use("socket://localhost:4000") is None
