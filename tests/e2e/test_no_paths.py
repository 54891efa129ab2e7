"""Nothing that a compilation leaves tells where it was made."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import SCons

from edgec.toolchain.process import run as run_tool

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
COMPILER = "arm-none-eabi-gcc"


def moved_compiler(folder: Path) -> Path:
    """The Arm compiler as if it had been unpacked in `folder`; its folder of programs."""
    found = shutil.which(COMPILER)
    if found is None:
        pytest.skip(f"{COMPILER} is not installed")
    answer = run_tool([found, "-print-libgcc-file-name"], timeout_s=60).stdout.strip()
    library = Path(answer).resolve().parent
    programs, moved = folder / "bin", folder / "lib" / "gcc" / library.parent.name / library.name
    programs.mkdir(parents=True)
    moved.mkdir(parents=True)
    shutil.copy(Path(found).resolve(), programs / COMPILER)
    for entry in library.iterdir():
        if entry.name == "include":  # gcc names the real place of its headers
            shutil.copytree(entry, moved / entry.name)
        else:
            (moved / entry.name).symlink_to(entry)
    (folder / "lib" / library.parent.name).symlink_to(library.parents[2] / library.parent.name)
    return programs


def compiled(board: str, root: Path, programs: Path | None = None) -> Path:
    """`edgec compile` of a model in `root`, with the home folder and all scratch files there."""
    for name in ("home", "scratch"):
        (root / name).mkdir(exist_ok=True)
    for name in ("digits_mlp.onnx", "digits_calibration.npz"):
        shutil.copy(EXAMPLES / name, root / name)
    path = os.environ["PATH"] if programs is None else f"{programs}:{os.environ['PATH']}"
    places = {"HOME": str(root / "home"), "TMPDIR": str(root / "scratch"), "PATH": path}
    arguments = [root / "digits_mlp.onnx", "--calibration", root / "digits_calibration.npz"]
    arguments += ["--board", board, "--out", root / "output"]
    done = subprocess.run(
        [sys.executable, "-m", "edgec", "compile", *arguments],
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return root / "output"


def telling(folder: Path, root: Path) -> list[str]:
    """The files below `folder` that hold the path `root` or the one of Python's packages."""
    packages = Path(SCons.__file__).parents[1]
    secrets = [str(place).encode() for place in (root, packages)]
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and any(secret in path.read_bytes() for secret in secrets)
    )


def test_firmware_for_a_microcontroller(tmp_path: Path) -> None:
    output = compiled("nucleo", tmp_path, moved_compiler(tmp_path / "home" / "gcc"))
    assert telling(output, tmp_path) == []
    elf = (output / "firmware.elf").read_bytes()
    assert b"/compiler/lib/gcc" in elf  # the moved compiler was used, and is not named


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("board", ["host", "raspberry_pi_3"])
def test_program_of_an_operating_system(board: str, tmp_path: Path) -> None:
    if board != "host" and shutil.which("aarch64-linux-gnu-gcc") is None:
        pytest.skip("aarch64-linux-gnu-gcc is not installed")
    assert telling(compiled(board, tmp_path), tmp_path) == []


@pytest.mark.slow
def test_pio_run_works_in_the_installed_project(tmp_path: Path) -> None:
    output = compiled("host", tmp_path)
    argv = [sys.executable, "-m", "platformio", "run"]
    done = subprocess.run(
        argv, cwd=output / "project", capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    built = output / "project" / ".pio" / "build" / "host" / "firmware.elf"
    assert built.read_bytes() == (output / "firmware.elf").read_bytes()
