"""The PlatformIO project around generated model libraries: one folder that builds on its own.

    platformio.ini  linker.ld  boards/<board>.json  platform/     the build
    include/                                                      generated headers
    src/app  src/port                                             copied from edgec's firmware/
    lib/<model>/                                                  the generated libraries

Files are written only when they change, so that PlatformIO rebuilds no more than it must; files
that are no longer part of the project are removed.  Nothing depends on where the folder is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

import edgec
from edgec.board import Board, MemoryMap
from edgec.cores import Core
from edgec.errors import CodegenError
from edgec.resources import data_dir

_TEMPLATES = Path(__file__).resolve().parent.parent / "templates" / "project"
_OWNED = ("boards", "include", "lib", "platform", "src")
_C_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_HEADER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_/.]{0,127}\.h")
_KINDS = {".c", ".h", ".json", ".py", ".txt"}

_COMMON_FLAGS = (
    "-std=c11",
    "-O2",
    "-g",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-common",
    "-ffile-prefix-map=$PROJECT_DIR=.",
    "-Wall",
    "-Wextra",
    "-Wl,--gc-sections",
)
_TARGET_FLAGS = ("-Wl,--fatal-warnings", "-Wl,--build-id=none")


@dataclass(frozen=True, slots=True)
class FirmwareModel:
    """A generated model library that goes into a firmware.

    Attributes:
        library_dir: the folder that `emit_library` wrote.
        name: the model's C name; folder of its copy.
        header: its header, as in #include.
        symbol: the `edgec_model_t` that describes it.
        arena_bytes: the arena it needs.
    """

    library_dir: Path
    name: str
    header: str
    symbol: str
    arena_bytes: int


def emit_project(models: Sequence[FirmwareModel], board: Board, out_dir: Path) -> None:
    """Write the PlatformIO project that serves `models` on `board` into `out_dir`.

    Args:
        models: at least one, with different names; their arena is shared.
        board: the target.
        out_dir: the project's folder; created, or updated where it exists.

    Raises:
        CodegenError: a name is not fit for C, a library is missing, or writing fails.
    """
    _check(models)
    files = _generated(models, board)
    for part, folder in _parts(models, board):
        files |= _copied(part, folder)
    try:
        _remove_others(out_dir, files)
        for name in sorted(files):
            _write(out_dir / name, files[name])
    except OSError as error:
        raise CodegenError(
            f"cannot write the project: {error.strerror or error}", where=str(out_dir)
        ) from error


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


def _parts(models: Sequence[FirmwareModel], board: Board) -> list[tuple[str, Path]]:
    """What is copied: folder in the project, and where from."""
    firmware = data_dir("firmware")
    port = firmware / "port" / board.port
    if not port.is_dir():
        raise CodegenError(f"there is no port {board.port!r}", where=f"{board.name}.toml: port")
    parts = [
        ("platform", firmware / "platformio" / "platform-edgec"),
        ("src/app", firmware / "app"),
        (f"src/port/{board.port}", port),
        *((f"lib/{model.name}", model.library_dir) for model in models),
    ]
    if not board.is_host:
        parts.append(("src/port/common", firmware / "port" / "common"))
        parts.append(("src/port/drivers", firmware / "port" / "drivers"))
    return parts


def _copied(part: str, folder: Path) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file() and path.suffix in _KINDS]
    hidden = ("__pycache__", ".pio")
    return {
        f"{part}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in paths
        if not any(name in hidden for name in path.parts)
    }


def _generated(models: Sequence[FirmwareModel], board: Board) -> dict[str, bytes]:
    manifest = json.dumps(board_manifest(board), indent=2, sort_keys=True) + "\n"
    texts = {
        "platformio.ini": _platformio_ini(board),
        f"boards/{board.name}.json": manifest,
        "include/app_config.h": _app_config(models, board),
        "include/port.h": (data_dir("firmware") / "port" / "port.h").read_text("utf-8"),
    }
    if board.memory is not None:
        texts["linker.ld"] = linker_script(board, board.memory)
        texts["include/board_config.h"] = _board_config(board)
    return {name: text.encode() for name, text in texts.items()}


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


def linker_script(board: Board, memory: MemoryMap) -> str:
    """The linker script of a board with this memory map."""
    flash = memory.flash
    return _render(
        "linker.ld.j2",
        title=board.title,
        flash={"origin": hex(flash.origin), "size": flash.size_bytes},
        regions=[
            {"name": region.name.upper(), "origin": hex(region.origin), "size": region.size_bytes}
            for region in memory.ram
        ],
        boot_bytes=flash.boot_bytes,
        stack_bytes=memory.stack_bytes,
        data_region=memory.data_in.upper(),
        arena_region=memory.arena_in.upper(),
    )


def _platformio_ini(board: Board) -> str:
    includes = ["src/app"] + ([] if board.is_host else ["src/port/common", "src/port/drivers"])
    flags = [*_COMMON_FLAGS, *(() if board.is_host else _TARGET_FLAGS)]
    return _render(
        "platformio.ini.j2",
        title=board.title,
        board=board.name,
        flags=flags,
        source_flags=[
            "-Os",
            *(() if board.is_host else ("-fno-tree-loop-distribute-patterns",)),
            *(f"-I{folder}" for folder in includes),
        ],
        has_console=board.console is not None,
        baud=0 if board.console is None else board.console.baud,
    )


def _board_config(board: Board) -> str:
    return _render(
        "board_config.h.j2",
        title=board.title,
        clock_hz=board.clock_hz,
        baud=0 if board.console is None else board.console.baud,
        cycles_dwt=int(board.cycle_counter == "dwt"),
        cycles_systick=int(board.cycle_counter == "systick"),
        has_vtor=int(board.core is not Core.CORTEX_M0),
        defines=[
            {"name": name, "value": f"{value:#x}U"} for name, value in sorted(board.defines.items())
        ],
    )


def _app_config(models: Sequence[FirmwareModel], board: Board) -> str:
    return _render(
        "app_config.h.j2",
        models=[{"header": model.header} for model in models],
        version=edgec.__version__,
        board=board.name,
        arena_bytes=max(model.arena_bytes for model in models),
        model_list=", ".join(f"&{model.symbol}" for model in models),
    )


def _render(template: str, **values: Any) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        line_statement_prefix="%%",
        line_comment_prefix="%#",
        autoescape=False,
    )
    return environment.get_template(template).render(values)


def _remove_others(out_dir: Path, files: dict[str, bytes]) -> None:
    for folder in _OWNED:
        for path in sorted((out_dir / folder).rglob("*")):
            if path.is_file() and path.relative_to(out_dir).as_posix() not in files:
                path.unlink()


def _write(path: Path, content: bytes) -> None:
    if path.is_file() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
