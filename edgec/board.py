"""Boards: one validated data file each (`boards/*.toml`), loaded into a frozen `Board`.

Layer 2; imports pydantic for validation and nothing else of edgec but errors and resources.
Sizes are bytes, addresses are absolute, clocks are hertz.  Unknown keys are errors.
"""

from __future__ import annotations

import difflib
import itertools
import tomllib
from dataclasses import field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic.dataclasses import dataclass

from edgec.cores import Core, Fpu
from edgec.errors import ConfigError
from edgec.resources import data_dir

_MAX_FILE_BYTES = 64 * 1024
_STRICT = ConfigDict(extra="forbid", str_max_length=400)

_Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
# Texts end up in comments of generated files: one line, no end of a comment.
_Text = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f*\\]+$")]
_Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}$")]
_OptionalWord = Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9_.+-]{0,63})?$")]
_Address = Annotated[int, Field(ge=0, lt=1 << 32)]
_Bytes = Annotated[int, Field(gt=0, le=1 << 30)]
_OptionalBytes = Annotated[int, Field(ge=0, le=1 << 20)]


@dataclass(frozen=True, slots=True, config=_STRICT)
class Region:
    """A block of RAM.

    Attributes:
        name: as the reference manual calls it, in lower case.
        origin: first address.
        size_bytes: size.
    """

    name: _Name
    origin: _Address
    size_bytes: _Bytes

    @property
    def end(self) -> int:
        """First address behind the region."""
        return self.origin + self.size_bytes


@dataclass(frozen=True, slots=True, config=_STRICT)
class Flash:
    """The memory that holds code and weights, and what reading it costs.

    Attributes:
        origin: first address.
        size_bytes: size.
        boot_bytes: bytes at the start that are not ours (a second-stage boot loader).
        wait_states: extra cycles of a read at the nominal clock, before any cache.
        line_bytes: width of one read; 0 where the document does not tell.
        prefetch: the port enables a prefetch buffer.
        instruction_cache_bytes: size of the cache in front of the flash or core; 0: none.
        data_cache_bytes: the same for data (weights); 0: none.
        cache_is_unified: the two caches are one, whose size both keys state.
        cache_line_bytes: bytes of a cache line; 0: `line_bytes`.
        cache_fill_bytes: bytes that a miss reads; 0: a whole cache line.
        instruction_cache_ways: lines of a set; 0: fully associative.
        data_cache_ways: the same for the data cache.
    """

    origin: _Address
    size_bytes: _Bytes
    boot_bytes: _OptionalBytes = 0
    wait_states: Annotated[int, Field(ge=0, le=1024)] = 0
    line_bytes: Annotated[int, Field(ge=0, le=128)] = 0
    prefetch: bool = False
    instruction_cache_bytes: _OptionalBytes = 0
    data_cache_bytes: _OptionalBytes = 0
    cache_is_unified: bool = False
    cache_line_bytes: Annotated[int, Field(ge=0, le=256)] = 0
    cache_fill_bytes: Annotated[int, Field(ge=0, le=256)] = 0
    instruction_cache_ways: Annotated[int, Field(ge=0, le=64)] = 0
    data_cache_ways: Annotated[int, Field(ge=0, le=64)] = 0

    @model_validator(mode="after")
    def _check(self) -> Flash:
        read = self.line_bytes
        line = self.cache_line_bytes or read
        fill = self.cache_fill_bytes or line
        if any(size & (size - 1) for size in (read, line, fill)):
            raise ValueError("line_bytes, cache_line_bytes, cache_fill_bytes are powers of two")
        for key, size, ways in (
            ("instruction_cache_bytes", self.instruction_cache_bytes, self.instruction_cache_ways),
            ("data_cache_bytes", self.data_cache_bytes, self.data_cache_ways),
        ):
            if size == 0:
                continue
            if not 0 < read <= fill <= line:
                raise ValueError("a cache needs line_bytes <= cache_fill_bytes <= cache_line_bytes")
            if size % (line * max(ways, 1)):
                raise ValueError(f"{key} is not a whole number of sets")
        return self

    @property
    def end(self) -> int:
        """First address behind the flash."""
        return self.origin + self.size_bytes


@dataclass(frozen=True, slots=True, config=_STRICT)
class MemoryMap:
    """Flash and RAM, and what lies where.

    Attributes:
        flash: code and weights.
        ram: RAM regions in address order, not overlapping.
        data_in: name of the region of .data, .bss and the stack.
        arena_in: name of the region of the models' arena.
        stack_bytes: reserved at the top of `data_in`.
    """

    flash: Flash
    ram: Annotated[tuple[Region, ...], Field(min_length=1, max_length=8)]
    data_in: _Name
    arena_in: _Name
    stack_bytes: Annotated[int, Field(ge=512, le=1 << 20, multiple_of=8)] = 4096

    @model_validator(mode="after")
    def _check(self) -> MemoryMap:
        names = [region.name for region in self.ram]
        if len(set(names)) != len(names):
            raise ValueError("two RAM regions have one name")
        for key, name in (("data_in", self.data_in), ("arena_in", self.arena_in)):
            if name not in names:
                raise ValueError(f"{key} = {name!r} is none of the RAM regions {names}")
        _check_disjoint([("flash", self.flash.origin, self.flash.end), *_spans(self.ram)])
        if self.stack_bytes >= self.region(self.data_in).size_bytes:
            raise ValueError("stack_bytes does not fit into the region data_in")
        if self.flash.boot_bytes >= self.flash.size_bytes:
            raise ValueError("flash.boot_bytes does not fit into the flash")
        return self

    def region(self, name: str) -> Region:
        """The RAM region called `name`.

        Raises:
            KeyError: there is none.
        """
        for region in self.ram:
            if region.name == name:
                return region
        raise KeyError(name)


def _spans(regions: tuple[Region, ...]) -> list[tuple[str, int, int]]:
    return [(region.name, region.origin, region.end) for region in regions]


def _check_disjoint(spans: list[tuple[str, int, int]]) -> None:
    ordered = sorted(spans, key=lambda span: span[1])
    for (name, _, end), (next_name, origin, _) in itertools.pairwise(ordered):
        if origin < end:
            raise ValueError(f"memories {name!r} and {next_name!r} overlap")
    if ordered[-1][2] > 1 << 32:
        raise ValueError(f"memory {ordered[-1][0]!r} ends behind the 32-bit address space")


@dataclass(frozen=True, slots=True, config=_STRICT)
class Console:
    """The serial line of the firmware's protocol.

    Attributes:
        uart: the peripheral's name in the reference manual.
        pins: which pins, and where they lead, in words.
        baud: bits a second, 8 data bits, no parity, 1 stop bit.
    """

    uart: _Text
    pins: _Text
    baud: Annotated[int, Field(ge=1200, le=4_000_000)] = 115_200


@dataclass(frozen=True, slots=True, config=_STRICT)
class Emulator:
    """What can run the board's `firmware.elf` on a computer.

    Attributes:
        kind: "qemu" (a machine of qemu-system-arm), "unicorn" (our peripheral models), or "none".
        machine: QEMU's machine name; empty otherwise.
        cpu: QEMU's and Unicorn's name of the core; empty for "none".
    """

    kind: Literal["qemu", "unicorn", "none"] = "none"
    machine: _OptionalWord = ""
    cpu: _OptionalWord = ""


@dataclass(frozen=True, slots=True, config=_STRICT)
class Upload:
    """How firmware gets onto the board.

    Attributes:
        tools: programs that can do it, best first; empty: cannot be uploaded.
        openocd_target: configuration file of OpenOCD below `target/`, without `.cfg`.
        openocd_interface: the same below `interface/`.
        chip: the chip's name for pyocd.
        drive_image: form of the image that the board's USB drive takes; empty: it has no drive.
    """

    tools: tuple[Literal["openocd", "st-flash", "pyocd", "picotool"], ...] = ()
    openocd_target: _OptionalWord = ""
    openocd_interface: _OptionalWord = ""
    chip: _OptionalWord = ""
    drive_image: Literal["bin", "hex", "uf2", ""] = ""

    @model_validator(mode="after")
    def _check(self) -> Upload:
        if "openocd" in self.tools and not (self.openocd_target and self.openocd_interface):
            raise ValueError("openocd needs openocd_target and openocd_interface")
        if "pyocd" in self.tools and not self.chip:
            raise ValueError("pyocd needs chip")
        return self


@dataclass(frozen=True, slots=True, config=_STRICT)
class Energy:
    """What the microcontroller draws while it computes, from its data sheet.

    Attributes:
        run_ma: typical current in milliamperes at the board's clock, code running from flash,
            peripherals off.
        volts: supply voltage of that figure.
        source: document, table and conditions.
    """

    run_ma: Annotated[float, Field(gt=0, le=10_000)]
    volts: Annotated[float, Field(gt=0, le=12)]
    source: _Text


@dataclass(frozen=True, slots=True, config=_STRICT)
class Source:
    """Where numbers of the file come from.

    Attributes:
        keys: the keys it vouches for, as in the file.
        document: name and number of the document.
        section: section or table.
    """

    keys: Annotated[tuple[str, ...], Field(min_length=1)]
    document: _Text
    section: _Text


@dataclass(frozen=True, slots=True, config=_STRICT)
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
        memory: memory map; None on the host.
        console: serial line; None on the host, which uses standard input and output.
        emulator: what runs the firmware on a computer.
        upload: how firmware gets onto the board.
        defines: preprocessor definitions for the port, name to integer.
        energy: current while computing; None where no document states it for this clock.
        sources: where the numbers come from.
    """

    name: _Name
    title: _Text
    vendor: _Text
    mcu: _Text
    core: Core
    clock_hz: Annotated[int, Field(ge=0, le=4_000_000_000)]
    port: _Name
    sources: tuple[Source, ...]
    aliases: tuple[_Name, ...] = ()
    fpu: Fpu = Fpu.NONE
    dsp: bool = False
    cycle_counter: Literal["dwt", "systick", "port"] = "systick"
    memory: MemoryMap | None = None
    console: Console | None = None
    emulator: Emulator = Emulator()
    upload: Upload = Upload()
    defines: dict[Annotated[str, Field(pattern=r"^PORT_[A-Z0-9_]{1,40}$")], int] = field(
        default_factory=dict, hash=False
    )
    energy: Energy | None = None

    @model_validator(mode="after")
    def _check(self) -> Board:
        is_host = self.core is Core.HOST
        if is_host != (self.memory is None):
            raise ValueError("every board but the host has a memory map")
        if is_host != (self.console is None):
            raise ValueError("every board but the host has a console")
        if not is_host and self.clock_hz == 0:
            raise ValueError("clock_hz must be positive")
        if self.fpu not in self.core.possible_fpus:
            raise ValueError(f"{self.core.value} cannot have the FPU {self.fpu.value!r}")
        if self.dsp not in self.core.possible_dsp:
            raise ValueError(f"{self.core.value} cannot have dsp = {str(self.dsp).lower()}")
        return self

    @property
    def is_host(self) -> bool:
        """The computer that runs edgec is the board."""
        return self.core is Core.HOST

    @property
    def gcc_flags(self) -> tuple[str, ...]:
        """Options of GCC and Clang that select core and FPU; empty on the host."""
        return self.core.gcc_flags(self.fpu, dsp=self.dsp)

    @property
    def flash_bytes(self) -> int | None:
        """Flash for code and weights; None where there is no limit (host)."""
        return None if self.memory is None else self.memory.flash.size_bytes

    @property
    def ram_bytes(self) -> int | None:
        """All RAM the firmware uses: the regions of data and arena; None: no limit (host)."""
        if self.memory is None:
            return None
        used = {self.memory.data_in, self.memory.arena_in}
        return sum(region.size_bytes for region in self.memory.ram if region.name in used)

    @property
    def arena_limit_bytes(self) -> int | None:
        """Largest arena the linker could ever place; None: no limit (host).

        Code in the same region (.data and .bss) takes from it; the linker has the last word.
        """
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
    boards = tuple(_read(path) for path in _files())
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
    """The board with this name or alias, or described by this TOML file.

    Raises:
        ConfigError: there is no such board, or its file is bad.
    """
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or text.endswith(".toml") or "/" in text or "\\" in text:
        return _read(Path(name_or_path))
    boards = list_boards()
    for board in boards:
        if text == board.name or text in board.aliases:
            return board
    names = [name for board in boards for name in (board.name, *board.aliases)]
    close = difflib.get_close_matches(text[:64], names, n=3)
    hint = f"did you mean {', '.join(close)}?" if close else "`edgec boards` lists all boards"
    raise ConfigError(f"there is no board {text[:64]!r}", hint=hint)


def _files() -> list[Path]:
    return sorted(data_dir("boards").glob("*.toml"))


def _read(path: Path) -> Board:
    hint = "see boards/nucleo_f446re.toml for an example"
    try:
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise ConfigError("the board file is larger than 64 KB", where=str(path), hint=hint)
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"cannot read the board file: {reason}", where=str(path)) from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"not a TOML file: {error}", where=str(path), hint=hint) from error
    try:
        return _ADAPTER.validate_python(data)
    except ValidationError as error:
        raise ConfigError(_explain(error), where=str(path), hint=hint) from error


def _explain(error: ValidationError) -> str:
    """One line per problem: the key as in the file, then what is wrong with it."""
    lines = []
    for problem in error.errors(include_url=False, include_input=False):
        key = ".".join(str(part) for part in problem["loc"]) or "the file"
        lines.append(f"{key}: {_REASONS.get(problem['type'], problem['msg'])}")
    return "; ".join(lines)


_REASONS = {
    "unexpected_keyword_argument": "unknown key",
    "missing": "this key is required",
    "missing_argument": "this key is required",
}
