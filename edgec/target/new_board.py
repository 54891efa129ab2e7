"""A new board out of one of the same family, and out of what a PlatformIO manifest says of it.

What the manifest says replaces what the other board has; all else is copied, and the notes of the
file say of each number which of the two it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pydantic import ValidationError

from edgec.base.errors import ConfigError
from edgec.base.names import shown
from edgec.target.board import Board, Emulator, Source, Upload, explain
from edgec.target.manifest import Manifest
from edgec.target.memory_map import MemoryMap

CLOCKS: Mapping[str, tuple[int, int]] = MappingProxyType({"stm32f4": (50_000_000, 180_000_000)})
"""Ports that set up any clock between two, in steps of 1 MHz; all others set up one."""


@dataclass(frozen=True, slots=True)
class NewBoard:
    """A board that nobody has checked yet.

    Attributes:
        board: the board.
        notes: for keys of its file, dotted as there, where the value comes from.
    """

    board: Board
    notes: Mapping[str, str]


def new_board(name: str, like: Board, manifest: Manifest | None = None) -> NewBoard:
    """A board called `name` of the family of `like`.

    Raises:
        ConfigError: it cannot be of that family, or its name or a text cannot be in a board file.
    """
    try:
        return _new_board(name, like, manifest)
    except ValidationError as error:
        raise ConfigError(explain(error), where=shown(name)) from error


def _new_board(name: str, like: Board, manifest: Manifest | None) -> NewBoard:
    if like.is_host:
        raise ConfigError("this computer is no board to start from", where="--like host")
    if manifest is None:
        copied = dataclasses.replace(
            like, name=name, title=_title(name, like), aliases=(), sources=(_copied(like),)
        )
        return NewBoard(copied, {"": f"copied from {like.name}"})
    if like.memory is None:
        raise ConfigError(
            "a manifest describes a microcontroller, this board runs Linux",
            where=f"--like {like.name}",
            hint="leave out --from",
        )
    if manifest.cpu and manifest.cpu != like.core.value:
        raise ConfigError(
            f"the manifest's core is {manifest.cpu}, that of {like.name} is {like.core.value}",
            where=manifest.file,
            hint="name a board of that family with --like; `edgec boards` lists all boards",
        )
    return _merged(name, like, like.memory, manifest)


def _title(name: str, like: Board) -> str:
    """The board in words, as long as nobody has any: reports must not take it for the other one."""
    return f"{name}, like {like.title}"


def _merged(name: str, like: Board, memory: MemoryMap, manifest: Manifest) -> NewBoard:
    """The manifest over the board."""
    said = f"From {manifest.file}."
    notes: dict[str, str] = {}
    mcu = manifest.mcu.upper()
    is_same_mcu = not mcu or like.mcu.startswith(mcu) or mcu.startswith(like.mcu)
    new_memory = _memory(memory, manifest, notes)
    clock_hz = _clock(like, manifest, notes)
    named = (("title", manifest.name), ("vendor", manifest.vendor), ("mcu", mcu))
    notes |= {key: said for key, value in named if value}
    board = dataclasses.replace(
        like,
        name=name,
        title=manifest.name or _title(name, like),
        vendor=manifest.vendor or like.vendor,
        mcu=mcu or like.mcu,
        aliases=(),
        clock_hz=clock_hz,
        memory=new_memory,
        upload=like.upload if is_same_mcu else _upload(like.upload, manifest, notes),
        emulator=_emulator(like.emulator),
        energy=like.energy if is_same_mcu and clock_hz == like.clock_hz else None,
        sources=(_of_manifest(manifest, notes, said), _copied(like)),
    )
    return NewBoard(board, notes)


def _memory(memory: MemoryMap, manifest: Manifest, notes: dict[str, str]) -> MemoryMap:
    """The memory map with the manifest's sizes."""
    flash, ram = memory.flash, memory.ram
    if manifest.flash_bytes:
        flash = dataclasses.replace(flash, size_bytes=manifest.flash_bytes // 8 * 8)
        notes["memory.flash.size_bytes"] = f"From {manifest.file}."
    total = sum(region.size_bytes for region in ram)
    largest = memory.region(memory.arena_in)
    if manifest.ram_bytes and manifest.ram_bytes not in (total, largest.size_bytes):
        size = manifest.ram_bytes // 8 * 8
        if len(ram) > 1:
            size = min(size, largest.size_bytes)
        ram = tuple(
            dataclasses.replace(region, size_bytes=size) if region is largest else region
            for region in ram
        )
        notes["memory.ram"] = (
            f"CHECK: {manifest.file} says {manifest.ram_bytes:,} bytes of RAM in all."
        )
    return dataclasses.replace(memory, flash=flash, ram=ram)


def _clock(like: Board, manifest: Manifest, notes: dict[str, str]) -> int:
    """The core clock: the manifest's where the port can set it up.

    Raises:
        ConfigError: the port would drive the chip faster than the manifest says.
    """
    wanted = manifest.clock_hz
    if wanted in (0, like.clock_hz):
        return like.clock_hz
    low, high = CLOCKS.get(like.port, (1, 0))
    if low <= wanted <= high and wanted % 1_000_000 == 0:
        notes["clock_hz"] = f"From {manifest.file}."
        return wanted
    if wanted < like.clock_hz:
        raise ConfigError(
            f"the manifest's clock is {wanted / 1e6:g} MHz, and the port {like.port} sets up "
            f"{like.clock_hz / 1e6:g} MHz",
            where=manifest.file,
            hint="name another board with --like, or write a port: firmware/port/README.md",
        )
    notes["clock_hz"] = f"The port sets up this clock; {manifest.file} says {wanted / 1e6:g} MHz."
    return like.clock_hz


def _upload(upload: Upload, manifest: Manifest, notes: dict[str, str]) -> Upload:
    """Upload tools of the new board: without pyOCD, whose name for the chip is not known."""
    target = manifest.openocd_target or upload.openocd_target
    notes["upload.tools"] = (
        "pyocd can be added, with chip = the name that `pyocd list --targets` has."
    )
    tools = tuple(tool for tool in upload.tools if tool != "pyocd")
    return dataclasses.replace(upload, tools=tools, chip="", openocd_target=target)


def _emulator(emulator: Emulator) -> Emulator:
    """Emulator of the new board: QEMU's machine is another board, our models are of the family."""
    if emulator.kind != "qemu":
        return emulator
    return Emulator(kind="unicorn", cpu=emulator.cpu)


def _of_manifest(manifest: Manifest, notes: Mapping[str, str], said: str) -> Source:
    keys = tuple(sorted(key for key, note in notes.items() if note == said)) or ("name",)
    return Source(keys, f"PlatformIO board manifest {manifest.file}", "build and upload")


def _copied(like: Board) -> Source:
    keys = ("memory", "console") if like.memory is not None else ("linux",)
    return Source(keys, f"boards/{like.name}.toml", "CHECK: copied from there, where not noted")
