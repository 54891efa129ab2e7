"""The same input gives the same bytes on every computer.

qemu-user emulates an x86-64 processor without AVX-512 and VNNI, on which numpy, BLAS and
onnxruntime take other code paths than on this computer.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES, NETWORKS = ROOT / "examples", ROOT / "networks"
EMULATOR = "qemu-x86_64"
TIMEOUT_S = 1800
# qemu-user crashes now and then in a process of several threads: CI met one SIGSEGV that ten runs
# of the same command did not show.  A crash that edgec's libraries cause comes each time.
EMULATOR_ATTEMPTS = 3

SAMPLES = "samples.npz"
CALIBRATION = ("--calibration", SAMPLES)
COUNT = 16
"""Calibration samples, which take an emulator seconds each."""
BUILD = ("--board", "mps2_an386", "--no-build")
RESNET = str(EXAMPLES / "digits_resnet.onnx")
COMMANDS = {
    "convolutions": (
        *("compile", RESNET, *BUILD, *CALIBRATION),
        *("--equalize", "--observer=entropy", "--out"),
    ),
    "transformer": (
        *("compile", str(EXAMPLES / "digits_vit.onnx"), *BUILD, *CALIBRATION, "--out"),
    ),
    "residual network": (*("compile", str(NETWORKS / "resnet8_cifar10.onnx"), *BUILD, "--out"),),
    "weight pool.onnx": ("compress", RESNET, "--pool-size", "32", *CALIBRATION, "--output"),
}
"""By the name of what is written."""

# Importing packages takes an emulator long: one process runs all commands.
SCRIPT = """
import json, sys
from edgec.cli.app import run_app
for command in json.load(sys.stdin):
    code = run_app(command)
    if code:
        sys.exit(f"{command}: exit {code}")
"""


@pytest.fixture
def other_processor() -> list[str]:
    """The command that runs Python on another processor."""
    if shutil.which(EMULATOR) is None:
        pytest.skip("qemu-user is not installed (tools/setup.sh installs it)")
    if platform.machine() != "x86_64":
        pytest.skip("compares processors of x86-64")
    return [EMULATOR, "-cpu", "max"]


def run(prefix: list[str], folder: Path) -> dict[str, bytes]:
    """What all commands write, by an emulator again if the emulator dies by a signal."""
    for _ in range(EMULATOR_ATTEMPTS if prefix else 1):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        with np.load(EXAMPLES / "digits_calibration.npz") as samples:
            np.savez(folder / SAMPLES, **{name: samples[name][:COUNT] for name in samples})
        commands = [[*words, str(folder / name)] for name, words in COMMANDS.items()]
        done = subprocess.run(
            [*prefix, sys.executable, "-c", SCRIPT],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            timeout=TIMEOUT_S,
            input=json.dumps(commands),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode >= 0:
            break
    assert done.returncode == 0, f"{prefix}: exit {done.returncode}\n{done.stderr[-4000:]}"
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.slow
@pytest.mark.timeout(EMULATOR_ATTEMPTS * TIMEOUT_S)
def test_files_are_the_same_on_another_processor(other_processor, tmp_path):
    """Generated files, reports with their checks against the QDQ model, and a weight pool."""
    here, there = run([], tmp_path / "here"), run(other_processor, tmp_path / "there")
    assert here.keys() == there.keys()
    for name in COMMANDS:
        least = 1 if name.endswith(".onnx") else 11
        assert sum(Path(file).parts[0] == name for file in here) >= least
    assert [file for file in here if here[file] != there[file]] == []
