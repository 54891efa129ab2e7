"""Exports for tests: the command, programs that are run, what the library itself computes."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from edgec.cli.app import run_app
from edgec.sim.host import HostModel

STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")


def need(*programs: str) -> None:
    """Skip where a program is not installed."""
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


def run(*argv: str | Path, cwd: Path | None = None) -> str:
    """Standard output of a program that must succeed."""
    done = subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def export(folder: Path, form: str, out: Path, *options: object) -> Path:
    """The library of a build folder in a format."""
    words = ["export", folder, "--as", form, "--out", out, *options]
    assert run_app([str(word) for word in words]) == 0
    return out


def computed(folder: Path, codes: np.ndarray, work: Path) -> np.ndarray:
    """What the generated library of a build folder makes of one input: codes, flat."""
    host = HostModel(folder / "library", work, flags=("-O0",))
    return host.run([codes[None]])[0].reshape(-1)


def example_text(folder: Path, zero_point: int, elements: int, work: Path) -> str:
    """What the examples print: the first of the largest codes, for a sample that is all zeros."""
    codes = computed(folder, np.full(elements, zero_point, np.int8), work)
    largest = int(np.argmax(codes))
    return f"output 0: element {largest} is the largest, code {codes[largest]}\n"
