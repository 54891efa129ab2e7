"""Numbers in main programs: printf's decimals, decimals read, and the codes of edgec."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from c_programs import BUILDS, Build

from edgec.base.resources import data_dir
from edgec.ir.qparams import QuantParams
from edgec.toolchain import process
from edgec.toolchain.cc import WARNING_FLAGS

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
    sources = [
        HELPERS / "numbers_probe.c",
        APP / "mlperf" / "numbers.c",
        APP / "common" / "text_real.c",
    ]
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


WORDS = [
    *("0", "-0", "1", "+1", "-12.5", ".5", "5.", "3e-4", "1E+3", "0.1", "16777217", "999999999"),
    *("00000000000000000000001", "0.00000000000000000000000001", "1e-45", "1e-60", "3.4e38"),
    *("1.000000000000000000e+00", "6.875000000000000000e-01", "340282346638528859811704183e12"),
    *("3.4028235e+38", "-3.40282356e+38"),
]
NO_NUMBERS = ["", "-", ".", "e5", "1e", "1e+", "1.2.3", "0x10", "1f", "nan", "inf", "1 ", "--1"]


@pytest.mark.parametrize("build", [BUILDS[1], BUILDS[3], BUILDS[5]], ids=str)
def test_decimals_are_read(tmp_path: Path, build: Build) -> None:
    sources = [HELPERS / "real_probe.c", APP / "common" / "text_real.c"]
    program = build.compile(sources, [APP / "common"], tmp_path / "probe")
    random = np.random.default_rng(3)
    reals = random.integers(0, 2**32, 2000).astype(np.uint32).view(np.float32)
    finite = reals[np.isfinite(reals)].tolist()
    words = [*WORDS, *(f"{value:.8e}" for value in finite), *(f"{value:.3f}" for value in finite)]
    wrong = [*NO_NUMBERS, "3.5e38", "3.40282357e38", "340282356e31", "1e99999999999", "9" * 60]
    text = "\n".join([*words, *wrong, ""])
    done = subprocess.run([program], input=text.encode(), capture_output=True, check=True)
    found = done.stdout.decode().split()
    assert len(found) == len(words) + len(wrong)
    assert set(found[len(words) :]) == {"none"}
    bits = np.array([int(each, 16) for each in found[: len(words)]], np.uint32)
    # A decimal of nine digits is read to the nearest float; others have their further digits cut.
    exact = np.array([float(word) for word in words])
    nine = len(WORDS) + len(finite)
    assert bits[:nine].tolist() == exact[:nine].astype(np.float32).view(np.uint32).tolist()
    np.testing.assert_allclose(bits.view(np.float32)[nine:], exact[nine:], rtol=2e-7, atol=1e-45)


def test_integers_of_16_bits_are_enough(tmp_path: Path) -> None:
    """A compiler whose `int` is as short as C allows, and whose `double` is a float."""
    compiler = process.which("avr-gcc")
    if compiler is None:
        pytest.skip("avr-gcc is not installed")
    options = ["-mmcu=atmega2560", "-std=c11", *WARNING_FLAGS, "-Os", f"-I{APP / 'common'}"]
    source = APP / "common" / "text_real.c"
    done = process.run([compiler, *options, "-c", source, "-o", tmp_path / "o"], timeout_s=60)
    assert done.returncode == 0, done.stderr
