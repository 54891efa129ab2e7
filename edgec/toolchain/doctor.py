"""Check of the programs and packages that edgec works with, and commands that install the rest."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from edgec.toolchain import process
from edgec.toolchain.cc import find_host_compilers, program_version
from edgec.toolchain.flash import UPLOAD_INSTALL
from edgec.toolchain.platformio import (
    ARM_COMPILER,
    ARM_INSTALL,
    COMPILER_INSTALL,
    LEAST_PLATFORMIO,
    LEAST_SCONS,
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


_MULTILIB = Path("/var/lib/dpkg/info/gcc-multilib.list")
"""Is there while a package is installed that conflicts with the compilers for boards with Linux."""


@dataclass(frozen=True, slots=True)
class Check:
    """One thing edgec works with.

    Attributes:
        name: program or package.
        ok: it is there, in a version that works.
        required: edgec cannot do its main work without it.
        found: version and place, or what is wrong.
        purpose: what needs it.
        install: command that installs it; empty when it is there.
    """

    name: str
    ok: bool
    required: bool
    found: str
    purpose: str
    install: str = ""

    def to_json(self) -> dict[str, str | bool]:
        """The check as plain JSON data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Use:
    """One thing that people do with edgec.

    Attributes:
        title: in words.
        names: the checks that it needs; none: all that edgec requires.
        one_is_enough: any of them will do.
    """

    title: str
    names: tuple[str, ...] = ()
    one_is_enough: bool = False

    def missing(self, checks: Sequence[Check]) -> tuple[Check, ...]:
        """The checks that fail of those that it needs; none where one is enough and passes."""
        own = [check for check in checks if self._needs(check)]
        if self.one_is_enough and any(check.ok for check in own):
            return ()
        return tuple(check for check in own if not check.ok)

    def _needs(self, check: Check) -> bool:
        return check.name in self.names if self.names else check.required


USES = (
    Use("Cortex-M boards"),
    Use("emulator of boards", ("unicorn", "qemu-system-arm")),
    Use(
        "Raspberry Pi, BeagleBone",
        ("aarch64-linux-gnu-gcc", "arm-linux-gnueabihf-gcc", "qemu-aarch64", "qemu-arm"),
    ),
    Use("writing to boards", tuple(UPLOAD_INSTALL), one_is_enough=True),
    Use("folders of images", ("pillow",)),
)
"""Things that people do with edgec; the first one is its main work."""


def diagnose() -> tuple[Check, ...]:
    """Look at this computer; starts only `--version` of the programs found.

    The last check, "platformio mode", says where PlatformIO takes SCons and the compiler from.
    """
    return (
        _python(),
        *(_package(name) for name in _PACKAGES),
        _package("platformio", LEAST_PLATFORMIO, purpose="builds firmware"),
        _package("scons", LEAST_SCONS, purpose="builds firmware without PlatformIO's registry"),
        _program(ARM_COMPILER, "builds firmware", ARM_INSTALL, required=True),
        _newlib(),
        _host_compiler(),
        *(
            _linux_compiler(compiler)
            for compiler in ("aarch64-linux-gnu-gcc", "arm-linux-gnueabihf-gcc")
        ),
        _program("clang", "second compiler of the tests", "apt-get install clang"),
        _program(
            "qemu-system-arm",
            "emulates the mps2 and microbit boards",
            "apt-get install qemu-system-arm",
        ),
        *(
            _program(program, "emulates boards with Linux", "apt-get install qemu-user")
            for program in ("qemu-aarch64", "qemu-arm")
        ),
        _package(
            "unicorn",
            purpose="emulates the other boards",
            install="pip install unicorn capstone",
            required=False,
        ),
        _package("pillow", purpose="reads folders of images", required=False),
        *(
            _program(tool, "writes firmware to boards", install)
            for tool, install in UPLOAD_INSTALL.items()
        ),
        _mode(),
    )


def _python() -> Check:
    ok = sys.version_info >= (3, 11)
    found = f"{platform.python_version()} at {sys.executable}"
    install = "" if ok else "apt-get install python3.11"
    return Check("python", ok, True, found, "runs edgec", install)


def _package(
    name: str,
    least: str = "",
    *,
    purpose: str = "part of edgec",
    install: str = "",
    required: bool = True,
) -> Check:
    version = package_version(name)
    if version is not None and _numbers(version) >= _numbers(least):
        return Check(name, True, required, version, purpose)
    found = "not installed" if version is None else f"{version}, but {least} or newer is needed"
    command = install or (f"pip install '{name}>={least}'" if least else f"pip install {name}")
    return Check(name, False, required, found, purpose, command)


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version, to be compared; none of an empty one."""
    return tuple(int(digits) for digits in re.findall(r"\d+", version)[:3])


def _program(name: str, purpose: str, install: str, *, required: bool = False) -> Check:
    path = process.which(name)
    version = program_version(path) if path else None
    if version is not None:
        return Check(name, True, required, f"{version} at {path}", purpose)
    found = f"{path} does not run" if path else "not on PATH"
    return Check(name, False, required, found, purpose, install)


def _host_compiler() -> Check:
    """The C compiler of this computer, under the name of the one that most have."""
    check = _program("gcc", "runs models on this computer", COMPILER_INSTALL["gcc"], required=True)
    others = () if check.ok else find_host_compilers()
    if not others:
        return check
    found = f"{others[0].name} in its place: {others[0].version} at {others[0].path}"
    return replace(check, ok=True, found=found, install="")


def _linux_compiler(name: str) -> Check:
    check = _program(name, "builds programs for boards with Linux", COMPILER_INSTALL[name])
    if check.ok or not _MULTILIB.exists():
        return check
    return replace(check, found=f"{check.found}: Debian's gcc-multilib removes it")


def _newlib() -> Check:
    """Debian packs the C headers for bare metal apart from the compiler."""
    compiler = process.which(ARM_COMPILER)
    path = Path()
    if compiler is not None:
        done = process.run([compiler, "-print-file-name=libc.a"], timeout_s=20)
        path = Path(done.stdout.strip())
    ok = path.is_absolute()
    found = str(path.resolve()) if ok else f"not found by {ARM_COMPILER}"
    return Check("newlib", ok, True, found, "C headers of firmware", "" if ok else ARM_INSTALL)


def _mode() -> Check:
    advice = "with --no-build, `pio run` in DIR/project fetches it"
    if package_version("scons") is None:
        mode, reason = Mode.REGISTRY, f"SCons is not installed; {advice}"
    elif process.which(ARM_COMPILER) is None:
        mode, reason = Mode.REGISTRY, f"no Arm compiler is installed; {advice}"
    else:
        mode, reason = Mode.INSTALLED, "SCons and the compiler are installed; no network is needed"
    purpose = "where PlatformIO takes SCons and the compiler from"
    return Check("platformio mode", True, False, f"{mode.value}: {reason}", purpose)
