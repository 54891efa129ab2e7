"""The main job in environments of its own: the lowest versions of packages, and the newest."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_UV = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


def environment(folder: Path, python: str, resolution: str) -> Path:
    """The programs of a new environment with edgec and the versions that a resolution chooses."""
    if _UV is None:
        pytest.skip("uv is not installed")
    kept = sorted((Path.home() / ".pyenv" / "versions").glob(f"{python}.*/bin/python"))
    wanted = kept[-1] if kept else python
    found = _uv("venv", "--quiet", "--no-python-downloads", "--python", wanted, folder)
    if found.returncode != 0:
        pytest.skip(f"Python {python} is not installed: {found.stderr.strip()[:200]}")
    words = ("pip", "install", "--quiet", "--resolution", resolution, f"{_ROOT}[sim,images]")
    done = _uv(*words, VIRTUAL_ENV=str(folder))
    assert done.returncode == 0, done.stderr[-3000:]
    return folder / "bin"


def _uv(*words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    assert _UV is not None
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [_UV, *words], env={**kept, **variables}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("python", "resolution"),
    [("3.11", "lowest-direct"), ("3.12", "highest"), ("3.13", "highest"), ("3.14", "highest")],
)
def test_main_job(python: str, resolution: str, tmp_path: Path) -> None:
    programs = environment(tmp_path / "environment", python, resolution)
    samples = _ROOT / "examples" / "digits_calibration.npz"
    model, build = _ROOT / "examples" / "digits_mlp.onnx", tmp_path / "build"
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    path = f"{programs}{os.pathsep}{kept['PATH']}"
    for words in (
        ("--version",),
        ("compile", model, "--board", "nucleo", "--calibration", samples, "--out", build),
        ("evaluate", build, "--data", _ROOT / "examples" / "digits_test.npz", "--on", "emulator"),
        ("profile", build),
        ("quantize", model, "--calibration", samples, "--output", tmp_path / "quantized.onnx"),
    ):
        done = subprocess.run(
            [programs / "edgec", *words],
            cwd=tmp_path,
            env={**kept, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
