"""`diagnose`: what is found, what is missing, how to install it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from platformio.dependencies import get_core_dependencies

from edgec.toolchain import doctor, platformio


def by_name() -> dict[str, doctor.Check]:
    checks = doctor.diagnose()
    assert len({check.name for check in checks}) == len(checks)
    return {check.name: check for check in checks}


def test_this_computer_has_what_the_tests_need() -> None:
    checks = by_name()
    for name in ("python", "numpy", "platformio", "scons", "pyelftools"):
        assert checks[name].ok
        assert checks[name].install == ""


def test_every_missing_thing_has_an_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    checks = by_name()
    missing = [check for check in checks.values() if not check.ok]
    names = {"arm-none-eabi-gcc", "gcc", "clang", "qemu-system-arm", "openocd"}
    names |= {"aarch64-linux-gnu-gcc", "arm-linux-gnueabihf-gcc", "qemu-aarch64", "qemu-arm"}
    assert names <= {check.name for check in missing}
    assert not any(check.required for check in missing if "linux" in check.name)
    assert all(check.install for check in missing)
    assert checks["arm-none-eabi-gcc"].required
    assert not checks["clang"].required
    assert checks["arm-none-eabi-gcc"].install.startswith("apt-get install gcc-arm-none-eabi")
    assert checks["newlib"].install == checks["arm-none-eabi-gcc"].install
    assert checks["platformio mode"].found.startswith("registry: ")


@pytest.mark.parametrize("multilib", [True, False])
def test_a_package_that_removes_cross_compilers_is_named(
    multilib: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing = tmp_path / "gcc-multilib.list"
    if multilib:
        listing.write_text("/usr/share/doc/gcc-multilib\n")
    monkeypatch.setattr(doctor, "_MULTILIB", listing)
    monkeypatch.setenv("PATH", "/nonexistent")
    checks = by_name()
    named = {name for name, check in checks.items() if "gcc-multilib" in check.found}
    assert named == ({"aarch64-linux-gnu-gcc", "arm-linux-gnueabihf-gcc"} if multilib else set())
    assert checks["aarch64-linux-gnu-gcc"].install.startswith("apt-get install gcc-aarch64")


def test_mode_needs_no_network_when_all_is_there() -> None:
    if shutil.which(platformio.ARM_COMPILER) is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    checks = by_name()
    assert checks["platformio mode"].found.startswith("installed: ")
    assert checks["newlib"].ok


def test_broken_program_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gcc").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "gcc").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    check = by_name()["gcc"]
    assert not check.ok
    assert "does not run" in check.found


def test_wrong_version_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LEAST_SCONS", "40.0.0")
    check = by_name()["scons"]
    assert not check.ok
    assert check.found.endswith("but 40.0.0 or newer is needed")
    assert check.install == "pip install 'scons>=40.0.0'"


def test_checks_are_json() -> None:
    data = by_name()["python"].to_json()
    assert set(data) == {"name", "ok", "required", "found", "purpose", "install"}


def test_provided_scons_is_what_platformio_asks_for(tmp_path: Path) -> None:
    # "~4.41101.0" accepts 4.41101.x
    wanted = get_core_dependencies()["tool-scons"].removeprefix("~")
    platformio.provide_scons(tmp_path)
    manifest = (tmp_path / "packages" / "tool-scons" / ".piopm").read_text()
    assert f'"version": "{wanted}"' in manifest
