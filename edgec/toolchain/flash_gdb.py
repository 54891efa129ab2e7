"""Writing a built firmware through a GDB server: a debug probe's, or an emulator's that waits.

OpenOCD, pyOCD, SEGGER's J-Link, the Black Magic Probe and QEMU all serve GDB's remote protocol
(GDB manual, appendix E), in which the server says where flash is and how it is erased; GDB does the
rest.  So this reaches probes on other computers, and programs that edgec does not know.
"""

from __future__ import annotations

import re
from pathlib import Path

from edgec.base.errors import BuildError, ConfigError
from edgec.target.board import Board
from edgec.toolchain import process
from edgec.toolchain.platformio import build
from edgec.toolchain.upload_errors import Trouble, found_trouble, last_words

SCHEME = "gdb://"
_PROGRAMS = ("gdb-multiarch", "arm-none-eabi-gdb")
_SERVER = re.compile(r"gdb://([A-Za-z0-9][A-Za-z0-9.-]{0,252}):([0-9]{1,5})")
_TIMEOUT_S = 300.0


_TROUBLES = (
    Trouble(
        r"Connection refused|timed out|Name or service not known|No route to host"
        r"|Temporary failure in name resolution|could not connect|Network is unreachable",
        "no GDB server answers there",
        "start it first: openocd -f ..., pyocd gdbserver, or qemu-system-arm -S -gdb tcp::3333",
    ),
    Trouble(
        r"MIS-MATCHED",
        "what was written reads back differently",
        "is this the board? for protected flash see its maker's program",
    ),
    Trouble(
        r"Load failed|Error erasing|Error finishing flash|Cannot access memory|Remote failure"
        r"|Writing to flash memory forbidden|Remote connection closed",
        "the GDB server could not write the flash",
        "its own console says why; is the board that is connected the one of this build?",
    ),
)


def upload_with_gdb(project_dir: Path, board: Board, server: str) -> str:
    """Write the project's firmware through a GDB server, check it, and start it.

    Args:
        project_dir: a folder written by `emit_project`.
        board: the board it was written for.
        server: `gdb://HOST:PORT`.

    Returns:
        What was done, one sentence.

    Raises:
        BuildError: there is no GDB, no server, or the flash does not hold the firmware afterwards.
        ConfigError: `server` is none, or the board has no flash.
    """
    address = _SERVER.fullmatch(server)
    if address is None or int(address[2]) > 65535:
        raise ConfigError(
            "not the address of a GDB server",
            where=f"--port {server[:80]!r}",
            hint="like gdb://localhost:3333",
        )
    if board.memory is None:
        raise ConfigError("this board has no flash to write", where=board.name)
    gdb = next((found for name in _PROGRAMS if (found := process.which(name))), None)
    if gdb is None:
        raise BuildError(
            f"{' or '.join(_PROGRAMS)} is not on PATH", hint="apt-get install gdb-multiarch"
        )
    elf = build(project_dir, board).elf
    vectors = board.memory.flash.origin + board.memory.flash.boot_bytes
    commands = [
        "set confirm off",
        "set tcp connect-timeout 5",
        f"target extended-remote {address[1]}:{address[2]}",
        "monitor reset halt",  # a server that has no such command says so, and nothing is lost
        "load",
        "compare-sections",
        f"set $sp = *(unsigned *){vectors:#x}",
        f"set $pc = *(unsigned *){vectors + 4:#x}",
        "detach",  # the program runs on
    ]
    arguments = [word for command in commands for word in ("-ex", command)]
    done = process.run([gdb, "-nx", "-batch", *arguments, elf], timeout_s=_TIMEOUT_S)
    _check(done.stdout + done.stderr, server)
    return f"written to {board.title} through {server} and compared"


def _check(output: str, server: str) -> None:
    """GDB goes on after an error, so its words tell how it went."""
    trouble = found_trouble(output, _TROUBLES)
    if trouble is not None:
        raise BuildError(trouble.what, where=server, hint=trouble.hint)
    if "Transfer rate" not in output or ": matched." not in output:
        raise BuildError(
            f"the upload failed: {last_words(output)}",
            where=server,
            hint="the console of the GDB server may say more",
        )
