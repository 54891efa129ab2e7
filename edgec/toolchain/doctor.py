"""What is installed of the programs and packages edgec works with, and how to get the rest."""

from __future__ import annotations

import enum
import platform
import sys
from dataclasses import dataclass

from edgec.toolchain import process
from edgec.toolchain.cc import program_version
from edgec.toolchain.flash import UPLOAD_INSTALL
from edgec.toolchain.platformio import (
    ARM_COMPILER,
    ARM_INSTALL,
    PLATFORMIO_VERSION,
    SCONS_VERSION,
    Mode,
    package_version,
)

_PACKAGES = (
    "numpy",
    "onnx",
    "onnx-ir",
    "onnxscript",
    "onnxruntime",
    "jinja2",
    "typer",
    "rich",
    "pydantic",
    "pyelftools",
    "pyserial",
)


class Status(enum.Enum):
    """Result of a check."""

    OK = "ok"
    OPTIONAL = "optional"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing edgec works with.

    Attributes:
        name: program or package.
        status: OPTIONAL means absent, but only some features need it.
        found: version and place, or what is wrong.
        purpose: what needs it.
        install: command that installs it; empty when it is there.
    """

    name: str
    status: Status
    found: str
    purpose: str
    install: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All checks.

    Attributes:
        checks: in the order to show them.
        mode: where PlatformIO takes SCons and the Arm compiler from on this computer.
        mode_reason: one sentence, why.
    """

    checks: tuple[Check, ...]
    mode: Mode
    mode_reason: str

    @property
    def is_healthy(self) -> bool:
        """Nothing that is required is missing."""
        return all(check.status is not Status.MISSING for check in self.checks)


def diagnose() -> Diagnosis:
    """Look at this computer; starts only `--version` of the programs found."""
    checks = (
        _python(),
        *(_package(name) for name in _PACKAGES),
        _package("platformio", PLATFORMIO_VERSION, "builds firmware"),
        _package("scons", SCONS_VERSION, "builds firmware without PlatformIO's registry"),
        _program(ARM_COMPILER, "builds firmware", ARM_INSTALL),
        _program("gcc", "runs models on this computer", "apt-get install gcc"),
        _program("clang", "second compiler of the tests", "apt-get install clang", optional=True),
        _program(
            "qemu-system-arm",
            "emulates the mps2 and microbit boards",
            "apt-get install qemu-system-arm",
            optional=True,
        ),
        _package("unicorn", "", "emulates the other boards", "pip install 'edgec[sim]'"),
        *(
            _program(tool, "writes firmware to boards", install, optional=True)
            for tool, install in UPLOAD_INSTALL.items()
        ),
    )
    mode, reason = _mode()
    return Diagnosis(checks, mode, reason)


def _python() -> Check:
    version = platform.python_version()
    status = Status.OK if sys.version_info >= (3, 11) else Status.MISSING
    install = "" if status is Status.OK else "apt-get install python3.11"
    return Check("python", status, f"{version} at {sys.executable}", "runs edgec", install)


def _package(
    name: str, wanted: str = "", purpose: str = "part of edgec", optional_install: str = ""
) -> Check:
    version = package_version(name)
    install = optional_install or f"pip install {name}{f'=={wanted}' if wanted else ''}"
    if version is None:
        status = Status.OPTIONAL if optional_install else Status.MISSING
        return Check(name, status, "not installed", purpose, install)
    if wanted and version != wanted:
        return Check(name, Status.MISSING, f"{version}, needs {wanted}", purpose, install)
    return Check(name, Status.OK, version, purpose, "")


def _program(name: str, purpose: str, install: str, *, optional: bool = False) -> Check:
    absent = Status.OPTIONAL if optional else Status.MISSING
    path = process.which(name)
    if path is None:
        return Check(name, absent, "not on PATH", purpose, install)
    version = program_version(path)
    if version is None:
        return Check(name, absent, f"{path} does not run", purpose, install)
    return Check(name, Status.OK, f"{version} at {path}", purpose, "")


def _mode() -> tuple[Mode, str]:
    if package_version("scons") is None:
        return Mode.REGISTRY, "SCons is not installed, PlatformIO will fetch it"
    if process.which(ARM_COMPILER) is None:
        return Mode.REGISTRY, f"{ARM_COMPILER} is not on PATH, PlatformIO can fetch it"
    return Mode.INSTALLED, "SCons and the Arm compiler are installed, no network is needed"
