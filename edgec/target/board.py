"""Boards: one validated data file each (`boards/*.toml`), loaded into a frozen `Board`.

pydantic validates the files.
Sizes are bytes, addresses are absolute, clocks are hertz.  Unknown keys are errors.
"""

from __future__ import annotations

import difflib
from dataclasses import field
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError, model_validator
from pydantic.dataclasses import dataclass

from edgec.base.errors import ConfigError
from edgec.base.names import shown
from edgec.base.resources import data_dir
from edgec.base.toml_file import read_toml
from edgec.target.board_search import boards_like, other_chip
from edgec.target.cores import Core, Fpu
from edgec.target.energy import Energy
from edgec.target.memory_map import STRICT, ByteCount, MemoryMap, Name, Text

_MOST_PROBLEMS = 10
"""Problems of one file that its message lists."""

_SLIP = 0.85
"""Likeness of a name that is mistyped to the one that was meant."""
_MOST_BOARDS = 8
"""Boards that a message names where several are meant."""

UploadTool = Literal["openocd", "st-flash", "pyocd", "picotool", "bossac", "teensy_loader_cli"]
"""Programs that write a board's flash."""

_Define = Annotated[int, Field(ge=-(2**63), lt=2**64)]
"""A number of C: 64 bits, signed or not."""
_OptionalWord = Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9_.+-]{0,63})?$")]


@dataclass(frozen=True, slots=True, config=STRICT)
class Console:
    """The serial line of the firmware's protocol.

    Attributes:
        uart: the peripheral's name in the reference manual.
        pins: which pins, and where they lead, in words.
        baud: bits a second, 8 data bits, no parity, 1 stop bit.
    """

    uart: Text
    pins: Text
    baud: Annotated[int, Field(ge=1200, le=4_000_000)] = 115_200


@dataclass(frozen=True, slots=True, config=STRICT)
class Emulator:
    """Emulator that can run the board's `firmware.elf` on a computer.

    Attributes:
        kind: "qemu" (a machine of qemu-system-arm), "qemu-user" (a Linux program alone), "unicorn"
            (our peripheral models), or "none".
        machine: QEMU's machine name; empty otherwise.
        cpu: QEMU's and Unicorn's name of the core; empty for "none".
        serial: which of the QEMU machine's serial ports the console is, counted from 0.
    """

    kind: Literal["qemu", "qemu-user", "unicorn", "none"] = "none"
    machine: _OptionalWord = ""
    cpu: _OptionalWord = ""
    serial: Annotated[int, Field(ge=0, le=7)] = 0


@dataclass(frozen=True, slots=True, config=STRICT)
class Upload:
    """Upload of firmware to the board.

    Attributes:
        tools: programs that can do it, best first; empty: cannot be uploaded.
        openocd_target: configuration file of OpenOCD below `target/`, without `.cfg`.
        openocd_interface: the same below `interface/`.
        chip: the chip's name for pyocd, the board's for teensy_loader_cli.
        drive_image: form of the image that the board's USB drive takes; empty: it has no drive.
        uf2_family: number of the chip's family in UF2 images; 0: the drive takes none.
    """

    tools: tuple[UploadTool, ...] = ()
    openocd_target: _OptionalWord = ""
    openocd_interface: _OptionalWord = ""
    chip: _OptionalWord = ""
    drive_image: Literal["bin", "hex", "uf2", ""] = ""
    uf2_family: Annotated[int, Field(ge=0, lt=1 << 32)] = 0

    @model_validator(mode="after")
    def _check(self) -> Upload:
        if "openocd" in self.tools and not (self.openocd_target and self.openocd_interface):
            raise ValueError("openocd needs openocd_target and openocd_interface")
        for tool in ("pyocd", "teensy_loader_cli"):
            if tool in self.tools and not self.chip:
                raise ValueError(f"{tool} needs chip")
        if (self.drive_image == "uf2") != (self.uf2_family != 0):
            raise ValueError("uf2_family goes with drive_image = 'uf2'")
        return self


@dataclass(frozen=True, slots=True, config=STRICT)
class Linux:
    """A board with an operating system, which gives a program its memory and its console.

    Attributes:
        ram_bytes: RAM of the board, of the smallest one where it is sold with several sizes.
    """

    ram_bytes: ByteCount


@dataclass(frozen=True, slots=True, config=STRICT)
class Source:
    """Source of numbers of the file.

    Attributes:
        keys: the keys it vouches for, as in the file.
        document: name and number of the document.
        section: section or table.
    """

    keys: Annotated[tuple[str, ...], Field(min_length=1)]
    document: Text
    section: Text


@dataclass(frozen=True, slots=True, config=STRICT)
class Board:
    """A board edgec can build firmware for.

    Attributes:
        name: identifier, also the data file's name.
        aliases: other names the user may type.
        title: the board's name in words.
        vendor: who makes it.
        mcu: the part number of its microcontroller.
        core: processor core.
        fpu: floating-point unit.
        dsp: the core has the DSP extension (SMLAD, SXTB16 and so on).
        clock_hz: nominal core clock, which the port sets up.
        cycle_counter: what `port_cycles` reads; "port" is a timer that the port knows.
        port: folder below firmware/port.
        memory: memory map of a microcontroller; None where an operating system has it.
        linux: facts of a board that runs Linux; None for a microcontroller and the host.
        console: serial line; None for programs of an operating system, which use standard input
            and output.
        emulator: what runs the firmware on a computer.
        upload: how firmware gets onto the board.
        defines: preprocessor definitions for the port, name to integer.
        energy: what computing takes; None where no document states it for this board.
        sources: where the numbers come from.
    """

    name: Name
    title: Text
    vendor: Text
    mcu: Text
    core: Core
    clock_hz: Annotated[int, Field(ge=0, le=4_000_000_000)]
    port: Name
    sources: tuple[Source, ...]
    aliases: tuple[Name, ...] = ()
    fpu: Fpu = Fpu.NONE
    dsp: bool = False
    cycle_counter: Literal["dwt", "systick", "port"] = "systick"
    memory: MemoryMap | None = None
    linux: Linux | None = None
    console: Console | None = None
    emulator: Emulator = Emulator()
    upload: Upload = Upload()
    defines: dict[Annotated[str, Field(pattern=r"^PORT_[A-Z0-9_]{1,40}$")], _Define] = field(
        default_factory=dict, hash=False
    )
    energy: Energy | None = None

    @model_validator(mode="after")
    def _check(self) -> Board:
        if self.core.is_cortex_a != (self.linux is not None):
            raise ValueError("a board has a table [linux] if its core is a Cortex-A")
        if self.is_hosted != (self.memory is None):
            raise ValueError("a microcontroller has a memory map, other boards have none")
        if self.is_hosted != (self.console is None):
            raise ValueError("a microcontroller has a console, other boards have none")
        if not self.is_host and self.clock_hz == 0:
            raise ValueError("clock_hz must be positive")
        self._check_emulator()
        if self.fpu not in self.core.possible_fpus:
            raise ValueError(f"{self.core.value} cannot have the FPU {self.fpu.value!r}")
        if self.dsp not in self.core.possible_dsp:
            raise ValueError(f"{self.core.value} cannot have dsp = {str(self.dsp).lower()}")
        return self

    def _check_emulator(self) -> None:
        kind = self.emulator.kind
        if kind != "none" and (kind == "qemu-user") != (self.linux is not None):
            raise ValueError("qemu-user runs the programs of boards with Linux, and of no others")
        if kind == "qemu-user" and not self.emulator.cpu:
            raise ValueError("qemu-user needs emulator.cpu")

    @property
    def is_host(self) -> bool:
        """The computer that runs edgec is the board."""
        return self.core is Core.HOST

    @property
    def is_hosted(self) -> bool:
        """The firmware is a program of an operating system: on the host, and under Linux.

        It has no flash, no memory map and no stack of its own, and there is no cycle model.
        """
        return self.is_host or self.linux is not None

    @property
    def gcc_flags(self) -> tuple[str, ...]:
        """Options of GCC and Clang that select core and FPU; empty on the host."""
        return self.core.gcc_flags(self.fpu, dsp=self.dsp)

    @property
    def flash_bytes(self) -> int | None:
        """Flash for code and weights; None where there is none (host, Linux)."""
        return None if self.memory is None else self.memory.flash.size_bytes

    @property
    def ram_bytes(self) -> int | None:
        """All RAM the firmware uses: the regions of data and arena; None: no limit (host).

        Under Linux, the board's RAM, which the firmware shares with everything else.
        """
        if self.linux is not None:
            return self.linux.ram_bytes
        if self.memory is None:
            return None
        return sum(region.size_bytes for region in self.memory.used)

    @property
    def arena_limit_bytes(self) -> int | None:
        """Largest arena the linker could ever place; None: no limit (host).

        Code in the same region (.data and .bss) takes from it; the linker has the last word, and
        under Linux, what else runs there.
        """
        if self.linux is not None:
            return self.linux.ram_bytes
        if self.memory is None:
            return None
        region = self.memory.region(self.memory.arena_in)
        shared = self.memory.arena_in == self.memory.data_in
        return region.size_bytes - (self.memory.stack_bytes if shared else 0)

    def to_json(self) -> dict[str, Any]:
        """The board as plain JSON data, in the order of the fields."""
        data: dict[str, Any] = _ADAPTER.dump_python(self, mode="json")
        return data


_ADAPTER: TypeAdapter[Board] = TypeAdapter(Board)


def list_boards() -> tuple[Board, ...]:
    """Every board that ships with edgec, sorted by name.

    Raises:
        ConfigError: a board file is bad, or two boards share a name or alias.
    """
    boards = tuple(_shipped(path, *_version(path)) for path in _files())
    seen: dict[str, str] = {}
    for board in boards:
        for name in (board.name, *board.aliases):
            if name in seen:
                raise ConfigError(
                    f"the name is used by {seen[name]} too", where=f"{board.name}.toml: {name}"
                )
            seen[name] = board.name
    return boards


def load_board(name_or_path: str | Path) -> Board:
    """The board that a user names.

    Args:
        name_or_path: name or alias, or what is found of one board only (`board_search`), or a path
            of a TOML file.

    Raises:
        ConfigError: there is no such board, or several are meant, or its file is bad.
    """
    text = str(name_or_path)
    if is_board_file(name_or_path):
        return _read(Path(name_or_path))
    boards = list_boards()
    for board in boards:
        if text == board.name or text in board.aliases:
            return board
    found = boards_like(text[:64], boards)
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(board.name for board in found[:_MOST_BOARDS])
        more = len(found) - _MOST_BOARDS
        named = f"{names} and {more} more: edgec boards --find" if more > 0 else names
        raise ConfigError(f"{text[:64]!r} is the name of {len(found)} boards", hint=named)
    close = difflib.get_close_matches(text[:64], board_names(), n=3)
    slips = difflib.get_close_matches(text[:64], board_names(), n=3, cutoff=_SLIP)
    others = "`edgec boards` lists all; another Cortex-M is one file: edgec boards new NAME"
    meant = f"did you mean {', '.join(close)}?" if close else others
    other = other_chip(text[:64], boards)
    hint = (
        f"did you mean {', '.join(slips)}? If not: {other}" if slips and other else other or meant
    )
    raise ConfigError(f"there is no board {text[:64]!r}", hint=hint)


def is_board_file(name_or_path: str | Path) -> bool:
    """Whether the name of a board is that of a file."""
    text = str(name_or_path)
    return isinstance(name_or_path, Path) or text.endswith(".toml") or "/" in text or "\\" in text


def board_names() -> tuple[str, ...]:
    """Names and aliases of the boards that ship with edgec."""
    return tuple(name for board in list_boards() for name in (board.name, *board.aliases))


def _files() -> list[Path]:
    return sorted(data_dir("boards").glob("*.toml"))


def _version(path: Path) -> tuple[int, int]:
    """Size and time of a file, which change with its text."""
    found = path.stat()
    return found.st_size, found.st_mtime_ns


@lru_cache(maxsize=128)
def _shipped(path: Path, size: int, time_ns: int) -> Board:  # noqa: ARG001
    """The board of a file that ships with edgec; read again when the file has changed."""
    return _read(path)


def _read(path: Path) -> Board:
    return board_of(read_toml(path, "board file", _EXAMPLE), str(path))


def board_of(data: dict[str, Any], where: str) -> Board:
    """The board that the keys of a board file describe.

    Raises:
        ConfigError: they describe none; the message names `where` they are from.
    """
    try:
        return _ADAPTER.validate_python(data)
    except ValidationError as error:
        raise ConfigError(explain(error), where=where, hint=_EXAMPLE) from error


_EXAMPLE = "`edgec boards new` writes a board file with comments"


def explain(error: ValidationError) -> str:
    """One line per problem: the key as in the file, then what is wrong with it."""
    lines = []
    problems = error.errors(include_url=False, include_input=False)
    for problem in problems[:_MOST_PROBLEMS]:
        key = shown(".".join(str(part) for part in problem["loc"])) or "the file"
        lines.append(f"{key}: {_REASONS.get(problem['type'], problem['msg'])}")
    more = len(problems) - len(lines)
    return "; ".join([*lines, *([f"and {more} more"] if more else [])])


_REASONS = {
    "unexpected_keyword_argument": "unknown key",
    "missing": "this key is required",
    "missing_argument": "this key is required",
}
