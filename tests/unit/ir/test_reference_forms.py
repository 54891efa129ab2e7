"""The C of benchmarks/reference_forms/ computes what its numpy references do."""

from __future__ import annotations

import math
import shutil

import numpy as np
import pytest
from paper_arithmetic import (
    Scaled,
    ibert_gelu,
    ibert_layer_norm,
    ibert_softmax,
    log_int_shifts,
    shift_gelu,
    shiftmax,
)
from transformer_precision import softmax

pytest.importorskip("unicorn", reason="Unicorn is not installed")
pytestmark = pytest.mark.skipif(
    shutil.which("arm-none-eabi-gcc") is None, reason="arm-none-eabi-gcc is not installed"
)

from bare_code import TARGETS  # noqa: E402 - needs Unicorn
from form_data import Call, cmsis_numbers, ibert_exp_numbers, ibert_gelu_numbers  # noqa: E402
from transformer_forms import error_of, forms_of, program_of, run  # noqa: E402

COUNT = 65


@pytest.fixture(scope="module", params=[pytest.param("m0plus", marks=pytest.mark.slow), "m4"])
def program(request):
    return program_of(TARGETS[request.param])


def row(bits: int, deviation: float, scale: float) -> Scaled:
    most = 2 ** (bits - 1) - 1
    real = np.random.default_rng(bits).normal(0, deviation, COUNT) / scale
    return Scaled(np.clip(np.floor(real), -most - 1, most).astype(np.int64), scale)


@pytest.mark.parametrize(("bits", "scale"), [(8, 0.05), (16, 3e-4), (16, 7e-5)])
def test_ibert_softmax(program, bits, scale):
    x = row(bits, 1.5, scale)
    scratch, out = np.zeros(COUNT, np.uint32), np.zeros(COUNT, np.int16)
    arguments = (x.codes.astype(np.int16), ibert_exp_numbers(scale), scratch, out, COUNT)
    found = run(program, Call("ibert_softmax", arguments, 3))
    np.testing.assert_array_equal(found, ibert_softmax(x).codes)
    if bits == 8:
        shifts = run(program, Call("fqvit_softmax", arguments, 3))
        np.testing.assert_array_equal(shifts, log_int_shifts(x))


def test_ivit_softmax(program):
    x = row(8, 1.5, 0.05)
    scratch, out = np.zeros(COUNT, np.uint32), np.zeros(COUNT, np.int16)
    arguments = (x.codes.astype(np.int16), math.floor(1 / x.scale), scratch, out, COUNT)
    found = run(program, Call("ivit_softmax", arguments, 3))
    np.testing.assert_array_equal(found, shiftmax(x).codes)


def test_cmsis_softmax(program):
    x = row(8, 1.5, 0.05)
    out = np.zeros(COUNT, np.int16)
    arguments = (x.codes.astype(np.int8), *cmsis_numbers(x.scale), out, COUNT)
    found = run(program, Call("cmsis_softmax", arguments, 4))
    assert np.abs(found - np.minimum(256 * softmax(x.real), 255)).max() <= 0.51


def test_gelus(program):
    x, y = row(8, 1.5, 0.04), np.zeros(COUNT, np.int32)
    codes = x.codes.astype(np.int8)
    numbers, scale = ibert_gelu_numbers(x.scale)
    wanted = ibert_gelu(x)
    assert wanted.scale == pytest.approx(scale)
    ibert = np.array([*numbers, 0, 0], np.int32)
    found = run(program, Call("ibert_gelu_codes", (codes, ibert, y, COUNT), 2))
    np.testing.assert_array_equal(found, wanted.codes)
    one = math.floor(1 / x.scale)
    found = run(program, Call("ivit_gelu_codes", (codes, one, y, COUNT), 2))
    np.testing.assert_array_equal(found, shift_gelu(x).codes)


@pytest.mark.parametrize("offset", [-3000, 0, 70])
def test_ibert_norm(program, offset):
    x = row(16, 3.0, 1e-3)
    x = Scaled(x.codes + offset, x.scale)
    call = Call("ibert_norm_units", (x.codes.astype(np.int16), np.zeros(COUNT, np.int32), COUNT), 1)
    np.testing.assert_array_equal(run(program, call), ibert_layer_norm(x).codes >> 11)


def test_every_form_is_near_float64(program):
    for form in forms_of(program.target):
        assert error_of(form, run(program, form.call)) <= form.tolerance, form.name


def test_a64_is_the_same():
    if shutil.which("aarch64-linux-gnu-gcc") is None:
        pytest.skip("aarch64-linux-gnu-gcc is not installed")
    program = program_of(TARGETS["a53"])
    for form in forms_of(program.target):
        assert error_of(form, run(program, form.call)) <= form.tolerance, form.name
    assert program.cost() == program.instructions() > 0
