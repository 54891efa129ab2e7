"""The same input gives the same bytes on every computer.

qemu-user emulates an x86-64 processor without AVX-512 and VNNI, on which numpy, BLAS and
onnxruntime take other code paths than on this computer.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES, NETWORKS = ROOT / "examples", ROOT / "networks"
EMULATOR = "qemu-x86_64"
TIMEOUT_S = 1800
# qemu-user crashes now and then in a process of several threads: CI met one SIGSEGV that ten runs
# of the same command did not show.  A crash that edgec's libraries cause comes each time.
EMULATOR_ATTEMPTS = 3

CASES = {
    "convolutions": (EXAMPLES / "digits_resnet.onnx", "--equalize", "--observer=entropy"),
    "transformer": (EXAMPLES / "digits_vit.onnx",),
    "residual network": (NETWORKS / "resnet8_cifar10.onnx",),
}


@pytest.fixture(scope="module")
def other_processor() -> list[str]:
    """The command that runs Python on another processor."""
    if shutil.which(EMULATOR) is None:
        pytest.skip("qemu-user is not installed (tools/setup.sh installs it)")
    if platform.machine() != "x86_64":
        pytest.skip("compares processors of x86-64")
    return [EMULATOR, "-cpu", "max"]


def run(prefix: list[str], *arguments: str) -> None:
    """Runs edgec, behind an emulator again if the emulator dies by a signal."""
    command = [*prefix, sys.executable, "-m", "edgec", *arguments]
    for _ in range(EMULATOR_ATTEMPTS if prefix else 1):
        done = subprocess.run(
            command, cwd=ROOT, timeout=TIMEOUT_S, capture_output=True, text=True, check=False
        )
        if done.returncode >= 0:
            break
    assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stderr[-4000:]}"


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_build_is_the_same_on_another_processor(name, other_processor, tmp_path):
    """Generated files, and the report with its check against the QDQ model."""
    model, *options = CASES[name]
    builds = [tmp_path / "here", tmp_path / "there"]
    for prefix, folder in zip(([], other_processor), builds, strict=True):
        arguments = ["compile", str(model), "--board", "mps2_an386", "--no-build", *options]
        if model.parent == EXAMPLES:
            arguments += ["--calibration", str(EXAMPLES / "digits_calibration.npz")]
        run(prefix, *arguments, "--out", str(folder))
    here, there = (contents(folder) for folder in builds)
    assert here.keys() == there.keys()
    assert len(here) > 10
    assert [file for file in here if here[file] != there[file]] == []


@pytest.mark.slow
def test_a_weight_pool_is_the_same_on_another_processor(other_processor, tmp_path):
    models = [tmp_path / "here.onnx", tmp_path / "there.onnx"]
    for prefix, path in zip(([], other_processor), models, strict=True):
        run(
            prefix,
            *("compress", str(EXAMPLES / "digits_resnet.onnx"), "--pool-size", "32"),
            *("--calibration", str(EXAMPLES / "digits_calibration.npz"), "--output", str(path)),
        )
    assert models[0].read_bytes() == models[1].read_bytes()
