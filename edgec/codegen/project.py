"""The PlatformIO project around generated model libraries: one folder that builds on its own.

    platformio.ini  linker.ld  boards/<board>.json  platform/     the build
    include/                                                      generated headers
    src/app  src/port                                             copied from edgec's firmware/
    src/main                                                      the user's own main program
    lib/<model>/                                                  the generated libraries

Files are written only when they change, so that PlatformIO rebuilds no more than it must; files
that are no longer part of the project are removed.  Nothing depends on where the folder is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from edgec.base.errors import CodegenError
from edgec.base.main_program import MAIN_FOLDER
from edgec.base.options import Optimize
from edgec.base.resources import data_dir
from edgec.base.version import __version__
from edgec.codegen.env import render
from edgec.codegen.files import write_tree
from edgec.codegen.firmware_app import COMMON, CONSOLE, FirmwareApp
from edgec.codegen.includes import in_library
from edgec.codegen.project_contexts import (
    AppConfigContext,
    BoardConfigContext,
    DefineContext,
    LinkerContext,
    MlperfContext,
    ProjectContext,
    RamWeightsContext,
    RegionContext,
)
from edgec.target.board import Board
from edgec.target.memory_map import MemoryMap

Context = ProjectContext | LinkerContext | BoardConfigContext | AppConfigContext | MlperfContext

_FLASH = "FLASH"
_LINKER_SCRIPT = "linker.ld"
_OWNED = ("boards", "include", "lib", "platform", "src")
_C_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_HEADER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_/.]{0,127}\.h")
_KINDS = {".c", ".h", ".json", ".py", ".txt"}

PROTOCOL_INPUTS = 16
"""Most inputs of a model where the build does not ask for more: PROTOCOL_MAX_INPUTS."""

_COMMON_FLAGS = (
    "-std=c11",
    "-g",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-common",
    "-Wall",
    "-Wextra",
    "-Wl,--gc-sections",
)
# The port's memory functions must not become calls of themselves; -Os: size before speed.
_SOURCE_FLAGS = ("-Os", "-fno-tree-loop-distribute-patterns")
LEVELS = {Optimize.SIZE: "-Os", Optimize.BALANCED: "-O2", Optimize.SPEED: "-O2"}
"""Option of the compiler for libraries of a project."""
_TARGET_FLAGS = ("-Wl,--fatal-warnings", "-Wl,--build-id=none")


@dataclass(frozen=True, slots=True)
class RamConstant:
    """A constant of a model that is copied to RAM when the firmware starts.

    Attributes:
        symbol: its name in C.
        region: name of the board's RAM region.
        size_bytes: its size.
    """

    symbol: str
    region: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class FirmwareModel:
    """A generated model library that goes into a firmware.

    Attributes:
        library_dir: the folder that `emit_library` wrote.
        name: the model's C name; folder of its copy.
        header: its header, as in #include.
        symbol: the `edgec_model_t` that describes it.
        arena_bytes: the arena it needs.
        num_inputs: how many inputs it has.
        in_ram: its constants that lie in RAM.
        state_bytes: what it keeps from run to run.
        by_rows: several runs take an image together.
    """

    library_dir: Path
    name: str
    header: str
    symbol: str
    arena_bytes: int
    num_inputs: int
    in_ram: tuple[RamConstant, ...] = ()
    state_bytes: int = 0
    by_rows: bool = False


def emit_project(
    models: Sequence[FirmwareModel],
    board: Board,
    out_dir: Path,
    app: FirmwareApp = CONSOLE,
    arena_in: str | None = None,
    optimize: Optimize = Optimize.SPEED,
) -> None:
    """Write the PlatformIO project that serves `models` on `board` into `out_dir`.

    Args:
        models: at least one, with different names; their arena is shared.
        board: the target.
        out_dir: the project's folder; created, or updated where it exists.
        app: the main program.
        arena_in: the RAM region of the arena; None: that of the board file.
        optimize: what the compiler prefers in the libraries.

    Raises:
        CodegenError: a name is not fit for C, a library is missing, or writing fails.
    """
    _check(models)
    files = _generated(models, board, app, arena_in, optimize)
    try:
        for part, folder in _parts(models, board, app):
            files |= _copied(part, folder)
        if app.main is not None:
            del files["src/app/main.c"]
            files |= {f"{MAIN_FOLDER}/{name}": text for name, text in app.main.files.items()}
        _remove_others(out_dir, files)
    except (OSError, UnicodeDecodeError) as error:
        raise CodegenError(f"cannot update the project: {error}", where=str(out_dir)) from error
    write_tree(out_dir, files)


def _check(models: Sequence[FirmwareModel]) -> None:
    names = [model.name for model in models]
    if not names or len(set(names)) != len(names):
        raise CodegenError("a firmware needs one or more models with different names")
    for model in models:
        for text, pattern in (
            (model.name, _C_NAME),
            (model.symbol, _C_NAME),
            (model.header, _HEADER),
        ):
            if not pattern.fullmatch(text) or ".." in text:
                raise CodegenError(f"{text[:80]!r} cannot be a name in C", where=model.name[:80])
        if not (model.library_dir / "library.json").is_file():
            raise CodegenError("the model's library is missing", where=str(model.library_dir))


def _parts(
    models: Sequence[FirmwareModel], board: Board, app: FirmwareApp
) -> list[tuple[str, Path]]:
    """Folders of the project, each with the folder that is copied to it."""
    firmware = data_dir("firmware")
    port = firmware / "port" / board.port
    if not port.is_dir():
        raise CodegenError(f"there is no port {board.port!r}", where=f"{board.name}.toml: port")
    parts = [
        ("platform", firmware / "platformio" / "platform-edgec"),
        ("src/app", firmware / "app" / COMMON),
        ("src/app", firmware / "app" / app.folder),
        (f"src/port/{board.port}", port),
        *((f"lib/{model.name}", model.library_dir) for model in models),
    ]
    if not board.is_hosted:
        parts.append(("src/port/common", firmware / "port" / "common"))
        parts.append(("src/port/drivers", firmware / "port" / "drivers"))
    return parts


def _copied(part: str, folder: Path) -> dict[str, str]:
    paths = [path for path in folder.rglob("*") if path.is_file() and path.suffix in _KINDS]
    hidden = ("__pycache__", ".pio")
    names = {path.relative_to(folder): path for path in paths}
    return {
        f"{part}/{name.as_posix()}": in_library(path.read_text("utf-8"))
        for name, path in names.items()
        if not any(word in hidden for word in name.parts)
    }


def _generated(
    models: Sequence[FirmwareModel],
    board: Board,
    app: FirmwareApp,
    arena_in: str | None,
    optimize: Optimize,
) -> dict[str, str]:
    files = {
        "platformio.ini": _platformio_ini(models, board, optimize),
        f"boards/{board.name}.json": json.dumps(board_manifest(board), indent=2) + "\n",
        "include/app_config.h": _app_config(models, board),
        "include/port.h": (data_dir("firmware") / "port" / "port.h").read_text("utf-8"),
    }
    if app.config is not None:
        files[f"include/{Path(app.config.template).stem}"] = _render(app.config)
    if board.memory is not None and board.console is not None:
        constants = [constant for model in models for constant in model.in_ram]
        files[_LINKER_SCRIPT] = linker_script(
            board, board.memory, arena_in, constants, own_main=app.main is not None
        )
        files["include/board_config.h"] = _board_config(board, board.console.baud)
    return files


def board_manifest(board: Board) -> dict[str, Any]:
    """The board as PlatformIO describes boards (boards/<name>.json of a project)."""
    manifest: dict[str, Any] = {
        "name": board.title,
        "vendor": board.vendor,
        "url": "",
        "build": {
            "core": board.core.value,
            "cpu": board.core.value,
            "mcu": board.mcu,
            "f_cpu": f"{board.clock_hz}L",
            "core_flags": list(board.gcc_flags),
            "gcc_prefix": board.core.gcc_prefix,
            "hosted": board.is_hosted,
            # A Linux program brings its C library along, so that it runs on any distribution.
            "link_flags": ["-static"] if board.linux is not None else [],
        },
        "upload": {
            "protocols": list(board.upload.tools),
            "openocd_target": board.upload.openocd_target,
            "openocd_interface": board.upload.openocd_interface,
            "chip": board.upload.chip,
            "maximum_size": board.flash_bytes or 0,
            "maximum_ram_size": board.ram_bytes or 0,
        },
    }
    if board.memory is not None:
        manifest["build"]["flash_origin"] = board.memory.flash.origin
    return manifest


def linker_script(
    board: Board,
    memory: MemoryMap,
    arena_in: str | None = None,
    constants: Sequence[RamConstant] = (),
    *,
    own_main: bool = False,
) -> str:
    """The linker script of a board with this memory map.

    Args:
        board: the target.
        memory: its memory map.
        arena_in: the RAM region of the arena; None: that of the memory map.
        constants: those of the models that lie in RAM.
        own_main: the main program is the user's own.
    """
    flash = memory.flash
    regions = [RegionContext(_FLASH, "rx", hex(flash.origin), flash.size_bytes)]
    regions += [
        RegionContext(region.name.upper(), "rwx", hex(region.origin), region.size_bytes)
        for region in memory.ram
    ]
    return _render(
        LinkerContext(
            title=board.title,
            regions=tuple(regions),
            boot_bytes=flash.boot_bytes,
            stack_bytes=memory.stack_bytes,
            data_region=memory.data_in.upper(),
            arena_region=(arena_in or memory.arena_in).upper(),
            weights=tuple(_ram_weights(constants)),
            own_main=own_main,
        )
    )


def _ram_weights(constants: Sequence[RamConstant]) -> Iterator[RamWeightsContext]:
    """Constants by region; one that several models have lies where the first of them has it."""
    found: dict[str, RamConstant] = {}
    for constant in constants:
        found.setdefault(constant.symbol, constant)
    for region in dict.fromkeys(constant.region for constant in found.values()):
        sizes = {each.symbol: each.size_bytes for each in found.values() if each.region == region}
        yield RamWeightsContext(
            region.upper(), f"weights_{region}", tuple(sizes), sum(sizes.values())
        )


def _platformio_ini(models: Sequence[FirmwareModel], board: Board, optimize: Optimize) -> str:
    includes = ["src/app"] + ([] if board.is_hosted else ["src/port/common", "src/port/drivers"])
    target = () if board.is_hosted else _TARGET_FLAGS
    return _render(
        ProjectContext(
            title=board.title,
            board=board.name,
            flags=(_COMMON_FLAGS[0], LEVELS[optimize], *_COMMON_FLAGS[1:], *target),
            source_flags=(
                *_SOURCE_FLAGS,
                *_protocol_flags(models),
                *(f"-I{folder}" for folder in includes),
            ),
            linker_script="" if board.is_hosted else _LINKER_SCRIPT,
            baud=0 if board.console is None else board.console.baud,
        )
    )


def _protocol_flags(models: Sequence[FirmwareModel]) -> tuple[str, ...]:
    """Macros for protocol.h: room for many inputs, and what lasts from run to run."""
    most = max(model.num_inputs for model in models)
    inputs = (f"-DPROTOCOL_MAX_INPUTS={most}U",) if most > PROTOCOL_INPUTS else ()
    keep = any(model.state_bytes or model.by_rows for model in models)
    return (*inputs, "-DPROTOCOL_STATE") if keep else inputs


def _board_config(board: Board, baud: int) -> str:
    numbers = {
        "PORT_CLOCK_HZ": board.clock_hz,
        "PORT_BAUD": baud,
        "PORT_CYCLES_DWT": int(board.cycle_counter == "dwt"),
        "PORT_CYCLES_SYSTICK": int(board.cycle_counter == "systick"),
        "PORT_HAS_VTOR": int(board.core.facts.has_vector_table_offset),
        **board.defines,
    }
    defines = tuple(DefineContext(name, f"{numbers[name]}U") for name in sorted(numbers))
    return _render(BoardConfigContext(title=board.title, defines=defines))


def _app_config(models: Sequence[FirmwareModel], board: Board) -> str:
    return _render(
        AppConfigContext(
            headers=tuple(dict.fromkeys(model.header for model in models)),
            symbols=tuple(model.symbol for model in models),
            version=__version__,
            board=board.name,
            arena_bytes=max(model.arena_bytes for model in models),
            state_bytes=max(model.state_bytes for model in models),
        )
    )


def _render(context: Context) -> str:
    return render(context.template, context)


def _remove_others(out_dir: Path, files: Mapping[str, str]) -> None:
    for folder in _OWNED:
        for path in sorted((out_dir / folder).rglob("*")):
            if path.is_file() and path.relative_to(out_dir).as_posix() not in files:
                path.unlink()
