"""What the templates of the PlatformIO project get: one dataclass a template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class ProjectContext:
    """platformio.ini: build settings; `baud` is 0 where there is no serial console."""

    template: ClassVar[str] = "project/platformio.ini.j2"

    title: str
    board: str
    flags: tuple[str, ...]
    source_flags: tuple[str, ...]
    linker_script: str
    baud: int


@dataclass(frozen=True, slots=True)
class RegionContext:
    """A memory of the linker script."""

    name: str
    access: str
    origin: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class LinkerContext:
    """linker.ld: the memory map; `boot_bytes` is 0 where the image starts with the vector table."""

    template: ClassVar[str] = "project/linker.ld.j2"

    title: str
    regions: tuple[RegionContext, ...]
    boot_bytes: int
    stack_bytes: int
    data_region: str
    arena_region: str


@dataclass(frozen=True, slots=True)
class DefineContext:
    """A preprocessor definition."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class BoardConfigContext:
    """board_config.h: numbers of the board for the port."""

    template: ClassVar[str] = "project/board_config.h.j2"

    title: str
    defines: tuple[DefineContext, ...]


@dataclass(frozen=True, slots=True)
class AppConfigContext:
    """app_config.h: what the main program serves."""

    template: ClassVar[str] = "project/app_config.h.j2"

    headers: tuple[str, ...]
    symbols: tuple[str, ...]
    version: str
    board: str
    arena_bytes: int
