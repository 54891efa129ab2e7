"""Writing a built firmware to a board."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from edgec.base.errors import BuildError, ConfigError, InternalError
from edgec.target.board import Board
from edgec.toolchain import process
from edgec.toolchain.flash_gdb import SCHEME, upload_with_gdb
from edgec.toolchain.platformio import Mode, build, run_platformio
from edgec.toolchain.upload_errors import explained

UPLOAD_INSTALL = {
    "openocd": "apt-get install openocd",
    "st-flash": "apt-get install stlink-tools",
    "pyocd": "pip install pyocd",
    "bossac": "Arduino's own, with its boards package 'Arduino Mbed OS Nano Boards'",
    "teensy_loader_cli": "apt-get install teensy-loader-cli",
    "picotool": "apt-get install picotool, or build it from github.com/raspberrypi/picotool",
}
"""Upload program to the command that installs it."""

_PROBE = re.compile(r"[A-Za-z0-9][A-Za-z0-9:._-]{0,63}")
_TIMEOUT_S = 300.0


def upload(project_dir: Path, board: Board, *, port: str | None = None) -> str:
    """Write the project's firmware to the board, building what is out of date.

    Args:
        project_dir: a folder written by `emit_project`.
        board: the board it was written for.
        port: serial number of the debug probe when several are connected, or the folder of the
            board's USB drive, onto which the image is then copied, or a GDB server as
            `gdb://HOST:PORT`.

    Returns:
        What was done, one sentence.

    Raises:
        BuildError: there is no program to do it, or it fails.
        ConfigError: the board cannot be written to, or `port` is no serial number.
    """
    if port and port.startswith(SCHEME):
        return upload_with_gdb(project_dir, board, port)
    if port and board.linux is None and Path(port).is_dir():
        return _copy_to_drive(project_dir, board, Path(port))
    tool = upload_tool(board)
    arguments = ["run", "--silent", "--target", "upload"]
    if port is not None:
        if not _PROBE.fullmatch(port):
            raise ConfigError(
                "is no probe's serial number, no folder and no GDB server",
                where=f"--port {port[:80]!r}",
                hint="give the serial number that the upload program lists, a mounted drive, or "
                "gdb://HOST:PORT",
            )
        arguments += ["--upload-port", port]
    build(project_dir, board)  # apart, so that what fails now is the upload
    run_platformio(
        project_dir,
        arguments,
        mode=Mode.INSTALLED,
        timeout_s=_TIMEOUT_S,
        failed=lambda done: explained(f"{done.stdout}\n{done.stderr}", tool, board.upload.chip),
    )
    return f"written to {board.title} with {tool}"


def upload_tool(board: Board) -> str:
    """The upload program that will be used: the first of the board's that is on PATH.

    Raises:
        BuildError: none is installed.
        ConfigError: nothing can write to this board.
    """
    if board.linux is not None:
        raise ConfigError(
            "a board with Linux is not written to: copy the program there and start it",
            where=board.name,
            hint="scp DIR/firmware.elf USER@BOARD: && ssh USER@BOARD ./firmware.elf, "
            "then type: help",
        )
    if not board.upload.tools:
        raise ConfigError(
            "nothing is to be written to: this board exists on the computer only",
            where=board.name,
            hint="`edgec run DIR --on emulator` runs the firmware",
        )
    for tool in board.upload.tools:
        if process.which(tool) is not None:
            return tool
    first = board.upload.tools[0]
    raise BuildError(
        f"no upload program is on PATH; {board.name} can use {', '.join(board.upload.tools)}",
        hint=UPLOAD_INSTALL[first],
    )


def _copy_to_drive(project_dir: Path, board: Board, drive: Path) -> str:
    """The boards' USB drives take a flash image and write it; which form depends on the board."""
    if not board.upload.drive_image:
        raise ConfigError("this board has no USB drive", where=board.name)
    files = build(project_dir, board)
    image = {"bin": files.bin, "hex": files.hex, "uf2": files.uf2}[board.upload.drive_image]
    if image is None:
        raise InternalError("the build made no image for the drive", where=board.name)
    try:
        shutil.copyfile(image, drive / image.name)
    except OSError as error:
        raise BuildError(f"cannot copy: {error.strerror or error}", where=str(drive)) from error
    return f"copied {image.name} to {drive}"
