"""PlatformIO as a child process: builds a project that `codegen.project` wrote.

It runs with a core folder of its own inside the project (.pio/core), so nothing that the user has
in ~/.platformio plays a part.  PlatformIO takes SCons from a package called tool-scons, which its
registry provides.  Unless the registry is asked for, `provide_scons` puts a package of that name
there that runs PyPI's SCons instead, so that no network is needed.
"""

from __future__ import annotations

import enum
import importlib.metadata
import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

from edgec.base.errors import BuildError
from edgec.target.board import Board
from edgec.toolchain import process
from edgec.toolchain.cc import build_failed
from edgec.toolchain.uf2 import uf2_image

LEAST_PLATFORMIO = "6.1.18"
LEAST_SCONS = "4.8.0"
"""Oldest versions that build firmware; `tests/e2e/test_versions.py` builds with them."""

ARM_COMPILER = "arm-none-eabi-gcc"
ARM_INSTALL = "apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi"
_LINUX_INSTALL = {
    "aarch64-linux-gnu-gcc": "apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross",
    "arm-linux-gnueabihf-gcc": "apt-get install gcc-arm-linux-gnueabihf libc6-dev-armhf-cross",
}
COMPILER_INSTALL: Mapping[str, str] = MappingProxyType(
    {ARM_COMPILER: ARM_INSTALL, **_LINUX_INSTALL, "gcc": "apt-get install gcc"}
)
"""Compiler to the command that installs it and its C library."""
_SCONS_SCRIPT = '''"""Runs the SCons of the Python that runs PlatformIO."""

import sys

try:
    import SCons.Script
except ImportError:
    sys.exit(
        "SCons is missing beside PlatformIO: pip install scons, or delete "
        "the folder .pio, and PlatformIO fetches its own"
    )
SCons.Script.main()
'''
"""No path is in it: a build folder goes to other computers."""
PLATFORMIO_INSTALL = f"pip install 'platformio>={LEAST_PLATFORMIO}' 'scons>={LEAST_SCONS}'"


class Mode(enum.Enum):
    """Source of SCons and of the Arm compiler for PlatformIO."""

    INSTALLED = "installed"
    REGISTRY = "registry"


@dataclass(frozen=True, slots=True)
class FirmwareFiles:
    """The files that a build makes.

    Attributes:
        elf: the program with debug information (under an operating system: the executable).
        bin: flash image; None under an operating system.
        hex: flash image as Intel HEX; None under an operating system.
        uf2: image for the board's USB drive; None where that takes another form.
        said: what the compilers printed, their warnings.
    """

    ELF: ClassVar[str] = "firmware.elf"

    elf: Path
    bin: Path | None = None
    hex: Path | None = None
    uf2: Path | None = None
    said: str = ""


def build(
    project_dir: Path,
    board: Board,
    *,
    mode: Mode = Mode.INSTALLED,
    jobs: int | None = None,
    timeout_s: float = 900.0,
) -> FirmwareFiles:
    """Build the PlatformIO project in `project_dir`.

    Args:
        project_dir: a folder written by `emit_project`.
        board: the board it was written for.
        mode: REGISTRY lets PlatformIO fetch SCons, and the compiler where there is none.
        jobs: compilers at a time; default: all processors.
        timeout_s: the build is stopped after this time.

    Raises:
        BuildError: something is not installed, the compiler or linker fails, or it takes too long.
    """
    check_installed(board, mode)
    arguments = ["run", "--silent", "--jobs", str(jobs or os.cpu_count() or 1)]
    done = run_platformio(project_dir, arguments, mode=mode, timeout_s=timeout_s)
    said = f"{done.stdout}\n{done.stderr}"
    folder = project_dir / ".pio" / "build" / board.name
    elf = _existing(folder / FirmwareFiles.ELF)
    if board.memory is None:
        return FirmwareFiles(elf, said=said)
    image = _existing(folder / "firmware.bin")
    uf2 = None
    if board.upload.drive_image == "uf2":
        uf2 = folder / "firmware.uf2"
        origin, family = board.memory.flash.origin, board.upload.uf2_family
        uf2.write_bytes(uf2_image(image.read_bytes(), origin, family))
    return FirmwareFiles(elf, image, _existing(folder / "firmware.hex"), uf2, said)


def run_platformio(
    project_dir: Path,
    arguments: list[str],
    *,
    mode: Mode,
    timeout_s: float,
    failed: Callable[[process.Completed], BuildError] | None = None,
) -> process.Completed:
    """Run `pio ARGUMENTS` in a project.

    Args:
        project_dir: the project.
        arguments: the words after `pio`.
        mode: where PlatformIO takes SCons and the Arm compiler from.
        timeout_s: it is stopped after this time.
        failed: makes the error of its end; default: a build failed.

    Raises:
        BuildError: it fails; the text holds the lines that say why.
    """
    core_dir = project_dir.absolute() / ".pio" / "core"
    if mode is Mode.INSTALLED:
        provide_scons(core_dir)
    scratch = core_dir.with_name("tmp")
    scratch.mkdir(parents=True, exist_ok=True)
    environment = process.clean_environment(
        {
            # Compilers that are killed leave their files there.
            **process.temporary_variables(scratch),
            "PLATFORMIO_CORE_DIR": str(core_dir),
            "PLATFORMIO_SETTING_ENABLE_TELEMETRY": "no",
            "PLATFORMIO_DISABLE_UPGRADE_CHECK": "true",
            "PLATFORMIO_DISABLE_PROGRESSBAR": "true",
            "PLATFORMIO_NO_ANSI": "true",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
    )
    done = process.run(
        [sys.executable, "-m", "platformio", *arguments],
        cwd=project_dir,
        environment=environment,
        timeout_s=timeout_s,
    )
    if done.returncode != 0:
        if failed is not None:
            raise failed(done)
        raise build_failed("the firmware cannot be built", done, str(project_dir))
    return done


def provide_scons(core_dir: Path) -> None:
    """Put a tool-scons package that runs the installed SCons into a PlatformIO core folder.

    Raises:
        BuildError: SCons is not installed.
    """
    from platformio.dependencies import get_core_dependencies  # noqa: PLC0415 (slow to import)

    _check_scons()
    # PlatformIO takes no other version of the package, whatever SCons it starts.
    wanted = str(get_core_dependencies()["tool-scons"]).lstrip("~^=")
    name = {"name": "tool-scons", "version": wanted}
    origin = {"owner": "platformio", "name": "tool-scons"}
    files = {
        "package.json": json.dumps({**name, "description": "SCons of PyPI", "keywords": ["scons"]}),
        ".piopm": json.dumps({"type": "tool", **name, "spec": {**origin, "requirements": None}}),
        "scons.py": _SCONS_SCRIPT,
    }
    folder = core_dir / "packages" / "tool-scons"
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        path = folder / file
        if not path.is_file() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def keep_scons_only(project_dir: Path) -> None:
    """Remove what a build left in .pio, except SCons, which `pio run` needs without a network.

    PlatformIO makes the rest again; its files hold the paths of the build.
    """
    folder = project_dir / ".pio"
    if folder.exists():  # not where a copy of the project was built
        shutil.rmtree(folder)
    provide_scons(folder / "core")


def package_version(name: str) -> str | None:
    """Version of an installed Python package, or None."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def check_installed(board: Board, mode: Mode) -> None:
    """Refuse a build whose tools are not there.

    Raises:
        BuildError: PlatformIO, SCons or the compiler of the board is not installed.
    """
    if package_version("platformio") is None:
        raise BuildError("PlatformIO is not installed", hint=PLATFORMIO_INSTALL)
    if mode is Mode.INSTALLED:
        _check_scons()
    compiler = f"{board.core.gcc_prefix}gcc"
    in_registry = mode is Mode.REGISTRY and compiler == ARM_COMPILER
    if not in_registry and process.which(compiler) is None:
        raise BuildError(f"the compiler {compiler} is not on PATH", hint=COMPILER_INSTALL[compiler])


def _check_scons() -> None:
    if importlib.util.find_spec("SCons") is None:
        raise BuildError("SCons is not installed", hint=PLATFORMIO_INSTALL)


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise BuildError("PlatformIO reported success but the file is missing", where=str(path))
    return path
