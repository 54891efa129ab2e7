"""Codes of real numbers in C: to the last bit those of `QuantParams.quantize`, on every core."""

from __future__ import annotations

import struct
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from c_programs import RUNTIME_INCLUDE, Build, run_program

from edgec.base.dtypes import Array, DType
from edgec.codegen.helpers import scale_members
from edgec.ir.qparams import QuantParams
from edgec.toolchain import process

SOURCE = """
#include "edgec/codes.h"

#define PARAMETERS uint32_t count, const edgec_scale_t *scale, int32_t zero

void codes8(const float *values, int8_t *codes, PARAMETERS);
void codes16(const float *values, int16_t *codes, PARAMETERS);

void codes8(const float *values, int8_t *codes, PARAMETERS) {
    (void)edgec_quantize_s8(codes, values, count, scale, zero);
}

void codes16(const float *values, int16_t *codes, PARAMETERS) {
    (void)edgec_quantize_s16(codes, values, count, scale, zero);
}
"""
IN_FLOAT = """
#include "edgec/codes.h"

#define PARAMETERS uint32_t count, const void *scale, int32_t zero

void codes8(const float *values, int8_t *codes, PARAMETERS);
void codes16(const float *values, int16_t *codes, PARAMETERS);

void codes8(const float *values, int8_t *codes, PARAMETERS) {
    float factor = 0.0F;
    memcpy(&factor, scale, sizeof factor);
    (void)edgec_quantize_float_s8(codes, values, count, factor, zero);
}

void codes16(const float *values, int16_t *codes, PARAMETERS) {
    float factor = 0.0F;
    memcpy(&factor, scale, sizeof factor);
    (void)edgec_quantize_float_s16(codes, values, count, factor, zero);
}
"""
MAIN = """
#include <stdio.h>
#include <stdlib.h>

static void *part(FILE *in, size_t bytes) {
    void *const found = malloc(bytes);
    if (found == NULL || fread(found, 1, bytes, in) != bytes) {
        exit(1);
    }
    return found;
}

int main(int argc, char **argv) {
    FILE *const in = argc == 3 ? fopen(argv[1], "rb") : NULL;
    FILE *const out = argc == 3 ? fopen(argv[2], "wb") : NULL;
    int32_t head[3];
    if (in == NULL || out == NULL) {
        return 1;
    }
    while (fread(head, sizeof head, 1, in) == 1) {
        const size_t count = (size_t)head[0];
        edgec_scale_t *const scale = part(in, sizeof *scale);
        float *const values = part(in, count * sizeof *values);
        int16_t *const wide = malloc(count * sizeof *wide);
        int8_t *const codes = malloc(count);
        if (wide == NULL || codes == NULL) {
            return 1;
        }
        codes16(values, wide, (uint32_t)count, scale, head[1]);
        codes8(values, codes, (uint32_t)count, scale, head[2]);
        if (fwrite(wide, 2, count, out) != count || fwrite(codes, 1, count, out) != count) {
            return 1;
        }
        free(scale);
        free(values);
        free(wide);
        free(codes);
    }
    return fclose(in) + fclose(out);
}
"""
RNG = np.random.default_rng(11)
SHORT = (1.0, 0.5, 2.0**-7, 0.003921568859368563, 0.20533858239650726, 3.4e38, 1e-38, 2.0**-149)
"""Scales of 24 bits, which files hold."""
LONG = (
    0.1,
    1 / 127,
    1 / 255,
    2 / 255,
    12.7 / 127,
    np.pi,
    1e-30,
    1e30,
    1.5 - 2.0**-52,
    1 + 2.0**-52,
)
"""Scales that a search found, of 53 bits."""
SCALES = (*SHORT, *LONG, *np.float64(RNG.uniform(0.5, 1, 12) * 2.0 ** RNG.integers(-20, 4, 12)))


def near_halves(scale: float) -> Array:
    """The floats around every half step that an int8 code may begin at, and some of int16."""
    halves = np.concatenate([np.arange(-260, 260), RNG.integers(-70000, 70000, 100)]) + 0.5
    with np.errstate(over="ignore"):
        middle = (halves * scale).astype(np.float32)
    found = [middle]
    for way in (-np.inf, np.inf):
        step = middle
        for _ in range(3):
            step = np.nextafter(step, np.float32(way))
            found.append(step)
    return np.concatenate(found)


def numbers(scale: float) -> Array:
    """Floats that a scale may be wrong for: around halves, at the ends, and of all sizes."""
    anything = RNG.integers(0, 1 << 32, 3000, np.uint64).astype(np.uint32).view(np.float32)
    with np.errstate(over="ignore"):
        usual = (RNG.normal(size=1000) * 100 * scale).astype(np.float32)
    ends = [0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1e-45, -1e-45, 3.4e38, -3.4e38, 1.2e-38]
    found = np.concatenate([near_halves(scale), anything, usual, np.asarray(ends, np.float32)])
    return found.astype(np.float32)


def wanted(
    values: Array, scale: float, zero_point: int, dtype: DType, in_float32: bool = False
) -> Array:
    """The reference's codes; NaN has that of zero."""
    known = np.where(np.isnan(values), np.float32(0), values)
    return QuantParams((scale,), (zero_point,), dtype, in_float32=in_float32).quantize(known)


def packed_scale(scale: float, in_float32: bool = False) -> bytes:
    """An `edgec_scale_t` in memory, or a float and nothing."""
    if in_float32:
        return struct.pack("<fiii", scale, 0, 0, 0)
    mantissa, reciprocal, exponent = scale_members(scale).split(", ")
    members = int(mantissa.removesuffix("ULL"), 16), int(reciprocal.removesuffix("U"), 16)
    return struct.pack("<QIi", *members, int(exponent))


def adversarial_scales() -> list[float]:
    """Scales for which a quotient is a half in double arithmetic, and not quite one in truth."""
    found = []
    for value in (0.5, 0.75, 1.0, 0.3333333432674408, 5.4321, 16777215.0):
        for half in (0.5, 1.5, 2.5, 63.5, 64.5, 127.5, 1000.5, 32767.5):
            scale = float(np.float32(value)) / half
            found += [scale, np.nextafter(scale, 0.0), np.nextafter(scale, np.inf)]
    return [float(scale) for scale in found]


@pytest.mark.parametrize("in_float32", [False, True])
@pytest.mark.parametrize(
    "build", [Build("gcc", ("-O2",)), Build("clang", ("-O1", "-fsanitize=undefined"))], ids=str
)
def test_codes_on_this_computer(build: Build, in_float32: bool, tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text((IN_FLOAT if in_float32 else SOURCE) + MAIN)
    program = build.compile([tmp_path / "main.c"], [RUNTIME_INCLUDE], tmp_path / "program")
    scales = SHORT if in_float32 else (*SCALES, *adversarial_scales())
    cases = [(scale, numbers(scale)) for scale in scales]
    points = [(int(RNG.integers(-32768, 32768)), int(RNG.integers(-128, 128))) for _ in cases]
    with (tmp_path / "in").open("wb") as stream:
        for (scale, values), (wide, narrow) in zip(cases, points, strict=True):
            head = struct.pack("<iii", len(values), wide, narrow)
            stream.write(head + packed_scale(scale, in_float32))
            stream.write(values.tobytes())
    run_program(program, tmp_path / "in", tmp_path / "out")
    found = (tmp_path / "out").read_bytes()
    for (scale, values), (wide, narrow) in zip(cases, points, strict=True):
        for zero_point, dtype in ((wide, DType.INT16), (narrow, DType.INT8)):
            size = len(values) * dtype.size_bytes
            codes, found = np.frombuffer(found[:size], dtype.numpy), found[size:]
            expected = wanted(values, scale, zero_point, dtype, in_float32)
            odd = np.flatnonzero(codes != expected)
            assert not len(odd), (
                scale,
                zero_point,
                values[odd[:5]],
                codes[odd[:5]],
                expected[odd[:5]],
            )
    assert found == b""


def test_adversarial_scales_are_adversarial() -> None:
    """Exact division would give other codes for some of them."""
    differ = 0
    for scale in adversarial_scales():
        values = near_halves(scale)[::20]
        codes = wanted(values, scale, 0, DType.INT16)
        for value, code in zip(values.tolist(), codes.tolist(), strict=True):
            exact = (Fraction(value) / Fraction(scale) + Fraction(1, 2)).__floor__()
            differ += min(max(exact, -32768), 32767) != code
    assert differ > 0


@pytest.mark.parametrize("in_float32", [False, True])
@pytest.mark.parametrize("core", ["m0plus", "m4"])
def test_codes_on_emulated_cores(core: str, in_float32: bool, tmp_path: Path) -> None:
    from arm_function import CORES, ArmProgram

    (tmp_path / "codes.c").write_text(IN_FLOAT if in_float32 else SOURCE)
    program = ArmProgram(tmp_path / "codes.c", CORES[core])
    for scale in (0.003921568859368563, *(() if in_float32 else (1 / 127, 0.1))):
        values = np.concatenate([near_halves(scale)[::7], numbers(scale)[-600:]])
        place = program.buffers
        at, codes = place + 32, place + 32 + 4 * len(values)
        program.write(place, packed_scale(scale, in_float32) + bytes(16) + values.tobytes())
        program.call("codes8", at, codes, len(values), place, -5)
        found = np.frombuffer(program.read(codes, len(values)), np.int8)
        np.testing.assert_array_equal(found, wanted(values, scale, -5, DType.INT8, in_float32))


@pytest.mark.parametrize("flags", [("-mcpu=cortex-m0plus",), ("-mcpu=cortex-m4",)], ids="".join)
def test_no_floating_point_library_is_linked(flags: tuple[str, ...], tmp_path: Path) -> None:
    compiler, nm = process.which("arm-none-eabi-gcc"), process.which("arm-none-eabi-nm")
    if compiler is None or nm is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    (tmp_path / "codes.c").write_text(SOURCE)
    words = [compiler, "-std=c11", "-mthumb", *flags, "-O2", f"-I{RUNTIME_INCLUDE}", "-c"]
    done = process.run([*words, tmp_path / "codes.c", "-o", tmp_path / "codes.o"], timeout_s=60)
    assert done.returncode == 0, done.stderr
    names = process.run([nm, "--undefined-only", tmp_path / "codes.o"], timeout_s=60).stdout
    integer = {"__aeabi_lmul", "__aeabi_llsl", "__aeabi_llsr", "memcpy"}
    assert {line.split()[-1] for line in names.splitlines()} <= integer
