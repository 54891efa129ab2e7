"""Failures of upload programs, as one message that says what to do.

OpenOCD, st-flash, pyOCD, picotool, bossac and teensy_loader_cli name the same troubles in their own
words; `explained` finds the first that their output names.  Most of the words are those that users
quote in public reports; `tests/unit/toolchain/upload_failures` says of which they are not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from edgec.base.errors import BuildError


@dataclass(frozen=True, slots=True)
class Trouble:
    """One kind of failure.

    Attributes:
        words: regular expression that finds it in the output, in any program's words.
        what: what went wrong.
        hint: what to do; `{tool}` and `{chip}` are filled in.
    """

    words: str
    what: str
    hint: str


TROUBLES = (
    Trouble(
        r"LIBUSB_ERROR_ACCESS|errno=13|access error|[Aa]ccess denied|[Ii]nsufficient permissions"
        r"|picotool was unable to connect|Permission denied",
        "the board's USB device may not be opened",
        "install the udev rules of {tool}, run: sudo udevadm control --reload && sudo udevadm "
        "trigger, then unplug the board and plug it in again",
    ),
    Trouble(
        r"LIBUSB_ERROR_BUSY|[Rr]esource busy|Address already in use|already in use by",
        "another program uses the board's debug probe",
        "end it (a debugger, another {tool}), or unplug the board and plug it in again",
    ),
    Trouble(
        r"matches unique ID|No adapter with serial|no device found with serial"
        r"|Couldn't find .*serial|with the specified serial",
        "no probe with this serial number is plugged in",
        "leave out --port where one board is plugged in",
    ),
    Trouble(
        r"No accessible \S+ devices? in BOOTSEL mode",
        "no board in BOOTSEL mode was found",
        "unplug it, hold its button BOOTSEL while plugging it in, then try again",
    ),
    Trouble(
        r"Unable to open device \(hint: try -w",
        "no Teensy in its boot loader was found",
        "press the button on the board, then try again",
    ),
    Trouble(
        r"No device found on \S+",
        "no board in its boot loader was found",
        "press the board's reset button twice, quickly; its light fades in and out; then try again",
    ),
    Trouble(
        r"Device unsupported",
        "this bossac does not know the chip",
        "install Arduino's own bossac: it comes with the boards package "
        "'Arduino Mbed OS Nano Boards'",
    ),
    Trouble(
        r"[Tt]arget type '?[\w.-]+'? not recognized",
        "pyocd does not know the chip",
        "pyocd pack install {chip}",
    ),
    Trouble(
        r"Can't find (interface|target)/\S+\.cfg|couldn't open (interface|target)/",
        "this openocd is too old for the chip",
        "install a newer openocd, or another of the board's upload programs",
    ),
    Trouble(
        r"UNEXPECTED idcode|expected \d+ of \d+: 0x|[Uu]nknown chip ?id(?!: 0x0+\b)"
        r"|Cannot identify target as a|not the expected (chip|device)",
        "another chip than the board's answered",
        "is this board plugged in? `edgec boards` lists all; compile for the one that is",
    ),
    Trouble(
        r"[Ww]rite.protected|read.?out.?protect|[Rr]ead protection|device protected|is protected"
        r"|APPROTECT|stm32x unlock",
        "the chip's flash is protected",
        "remove the protection with its maker's program (this erases the chip), then try again",
    ),
    Trouble(
        r"init mode failed|Failed to enter SWD mode|No ACK|unable to connect to the target"
        r"|Error connecting DP|cannot read IDR|Could not find MEM-AP|[Tt]arget not halted"
        r"|timed out while waiting for target|Failed to connect to target|[Cc]hip ?id: 0x0+\b"
        r"|target voltage may be too low",
        "the debug probe was found, but the chip does not answer",
        "is it powered? hold the reset button while {tool} connects, or unplug and plug in again",
    ),
    Trouble(
        r"Verify Failed|[Vv]erification of flash failed|[Vv]erify failed|contents differ|mismatch",
        "what was written reads back differently",
        "try again with another cable or USB port; if it stays, the flash is worn out",
    ),
    Trouble(
        r"failed erasing|[Ee]rase.{0,20}fail|Programming Failed|failed to (write|program)"
        r"|error writing to flash|[Ff]lash (program|erase) .*failure|stlink_\w+\(\) == -1",
        "the flash could not be written",
        "unplug the board, plug it in and try again; a protected chip needs its maker's program",
    ),
    Trouble(
        r"Couldn't (find|locate) any ST-Link|No available debug probes|[Nn]o connected debug probe"
        r"|unable to find (a matching )?CMSIS-DAP|No CMSIS-DAP|LIBUSB_ERROR_NOT_FOUND|open failed"
        r"|[Nn]o device found|LIBUSB_ERROR_NO_DEVICE",
        "no board was found",
        "plug it in with a cable that carries data; lsusb lists what the computer sees",
    ),
)
"""The first that matches is told: causes stand before what follows from them."""


def explained(output: str, tool: str, chip: str) -> BuildError:
    """The error that tells what an upload program's output means.

    Args:
        output: what it printed.
        tool: its name.
        chip: the chip's name for pyocd.
    """
    trouble = found_trouble(output, TROUBLES)
    if trouble is not None:
        hint = trouble.hint.format(tool=tool, chip=chip)
        return BuildError(trouble.what, where=tool, hint=hint)
    return BuildError(
        f"the upload failed: {last_words(output)}",
        where=tool,
        hint="is the board plugged in? pio run --target upload shows all that it prints",
    )


def found_trouble(output: str, troubles: Sequence[Trouble]) -> Trouble | None:
    """The first trouble that a program's output names."""
    return next((each for each in troubles if re.search(each.words, output)), None)


def last_words(output: str) -> str:
    """The last line that names an error, or the last line that there is."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(("***", "===", "shutdown command"))]
    errors = [line for line in lines if re.search(r"error|fail|fatal", line, re.IGNORECASE)]
    return (errors or lines or ["it printed nothing"])[-1][:300]
