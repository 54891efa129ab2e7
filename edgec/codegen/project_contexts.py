"""Contexts of the templates of the PlatformIO project: one dataclass a template."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from edgec.base.dtypes import Array


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
class RamWeightsContext:
    """Constants of models that lie in a RAM region.

    Attributes:
        region: its name in the linker script.
        section: the name of their section, without a dot.
        symbols: their names in C.
        size_bytes: all of them.
    """

    region: str
    section: str
    symbols: tuple[str, ...]
    size_bytes: int


@dataclass(frozen=True, slots=True)
class LinkerContext:
    """linker.ld: the memory map; `boot_bytes` is 0 where the image starts with the vector table.

    With a main program of the user's own (`own_main`), which may not call the network yet, weights
    may be missing altogether.
    """

    template: ClassVar[str] = "project/linker.ld.j2"

    title: str
    regions: tuple[RegionContext, ...]
    boot_bytes: int
    stack_bytes: int
    data_region: str
    arena_region: str
    weights: tuple[RamWeightsContext, ...]
    own_main: bool


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


@dataclass(frozen=True, slots=True, eq=False)
class MlperfContext:
    """mlperf_config.h: what the numbers of MLPerf Tiny's runner are to the model.

    Attributes:
        model: the runner's name of the network, like ``ic01``.
        energy: 1 for firmware whose time stamps are pulses at a pin.
        input_bytes, input_elements: what the runner sends for one run.
        output_elements, output_scale: ``real = output_scale * (code - zero_point)``.
        code_type, most_code: C type of the input's codes, and the largest of them.
        channels, tables: the codes of all 256 bytes, for each channel; none where floats come.
        features: how many scales a float input has: one, or one for each element.
        scales, zero_points: lines of their initializers; None and "" where bytes come.
    """

    template: ClassVar[str] = "project/mlperf_config.h.j2"

    model: str
    energy: int
    input_bytes: int
    input_elements: int
    output_elements: int
    output_scale: str
    code_type: str
    most_code: int
    channels: int = 0
    tables: tuple[Array, ...] = ()
    features: int = 0
    scales: str | None = None
    zero_points: str = ""


@dataclass(frozen=True, slots=True)
class AppConfigContext:
    """app_config.h: what the main program serves; `state_bytes` is 0 where no model has a state."""

    template: ClassVar[str] = "project/app_config.h.j2"

    headers: tuple[str, ...]
    symbols: tuple[str, ...]
    version: str
    board: str
    arena_bytes: int
    state_bytes: int
