"""Numbers of the main program for MLPerf Tiny: printf's decimals, and the codes of edgec."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from c_programs import BUILDS, Build

from edgec.base.resources import data_dir
from edgec.ir.qparams import QuantParams

HELPERS = Path(__file__).parents[1] / "helpers"
APP = data_dir("firmware") / "app"
RECORD = np.dtype([("steps", "<f8"), ("real", "<f4"), ("zero_point", "<i4")])


def records() -> np.ndarray:
    """Numbers of all sizes, ties of decimals and of codes among them."""
    random = np.random.default_rng(11)
    found = np.zeros(6000, RECORD)
    bits = random.integers(0, 2**32, 6000).astype(np.uint32)
    reals = bits.view(np.float32).copy()
    reals[1000:3000] = random.normal(0, 3, 2000).astype(np.float32)
    reals[3000:5000] = (random.integers(-4000, 4000, 2000) * 2.0**-4 / 1.0).astype(np.float32)
    reals[5000:5008] = [0.0, -0.0, 0.0005, 0.0625, 2.0**52, 1e-45, 999.9995, 4294967296.0]
    found["real"] = np.where(np.abs(reals) < 2.0**53, reals, 1.0)
    found["steps"] = random.normal(0, 200, 6000)
    found["steps"][::2] = random.integers(-600, 600, 3000) / 2
    found["steps"][:4] = [1e300, -1e300, 0.49999999999999994, -0.5]
    found["zero_point"] = random.integers(-128, 128, 6000)
    return found


@pytest.mark.parametrize("build", [BUILDS[1], BUILDS[3], BUILDS[5]], ids=str)
def test_numbers(tmp_path: Path, build: Build) -> None:
    if "-m32" in build.flags:
        pytest.skip("x87 keeps more bits of a double than Arm")
    sources = [HELPERS / "numbers_probe.c", APP / "mlperf" / "numbers.c"]
    program = build.compile(sources, [APP / "mlperf", APP / "common"], tmp_path / "probe")
    given = records()
    done = subprocess.run([program], input=given.tobytes(), capture_output=True, check=True)
    *lines, last = done.stdout.decode().split("\n")
    assert last == "0 18000000005"
    reals = [line.split()[0] for line in lines]
    assert reals == [f"{value:.3f}" for value in given["real"].tolist()]
    scale = QuantParams.per_tensor
    codes = [
        int(scale(1.0, int(zero)).quantize(np.array(steps)))
        for steps, zero in zip(given["steps"], given["zero_point"], strict=True)
    ]
    assert [int(line.split()[1]) for line in lines] == codes
