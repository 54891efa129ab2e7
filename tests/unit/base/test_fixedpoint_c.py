"""edgec/arithmetic/math.h against fixedpoint.py and twice.py: edges and a large random set, all
compilers.
"""

import enum
from pathlib import Path

import numpy as np
import pytest
from c_programs import BUILDS, RUNTIME_INCLUDE, Build, run_program
from places import HELPERS

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import (
    INT8_MAX,
    INT8_MIN,
    INT32_MAX,
    INT32_MIN,
    SHIFT_MAX,
    SHIFT_MIN,
    requantize,
    rshr,
    saturate,
)
from edgec.base.tflite_arithmetic import scaled_twice

PROBE = HELPERS / "math_probe.c"
LIMIT = 2**30
"""EDGEC_REQUANTIZE_LIMIT."""


class Op(enum.IntEnum):
    RSHR32 = 0
    REQUANTIZE = 1
    REQUANTIZE_S8 = 2
    ADD_S8 = 3
    REQUANTIZE_VARIABLE = 4
    SCALED_TWICE = 5
    TWICE_S8 = 6
    TWICE_ANY_S8 = 7
    OFFSET_S8 = 8
    FINE20 = 9


def edges() -> Array:
    """int32 values where rounding, carries and signs change."""
    powers = [2**n + d for n in (0, 1, 7, 8, 15, 16, 29, 30, 31) for d in (-1, 0, 1)]
    values = {v for p in powers for v in (p, -p)} | {0, 3, -3, 255, -255, 0x55555555, -0x55555555}
    return np.array(sorted(v for v in values if INT32_MIN <= v <= INT32_MAX), np.int64)


def grid(*axes: Array) -> list[Array]:
    """Every combination of the axes, flat."""
    return [part.ravel() for part in np.meshgrid(*axes, indexing="ij")]


def records(op: Op, shift: Array, *operands: Array) -> Array:
    """int32 [N, 9] for the probe."""
    table = np.zeros((len(shift), 9), np.int32)
    table[:, 0], table[:, 1] = op, shift
    for index, operand in enumerate(operands):
        table[:, 2 + index] = operand
    return table


def by_shift(function, shift: Array, *operands: Array) -> Array:
    """fixedpoint's functions take one shift; apply them to a mixture."""
    result = np.zeros(len(shift), np.int64)
    for value in np.unique(shift):
        where = shift == value
        result[where] = function(*(operand[where] for operand in operands), int(value))
    return result


def requantize_cases(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """(shift, acc, multiplier): edges x edges x shifts, then random ones of all magnitudes."""
    values = edges()
    multipliers = values[values > INT32_MIN]
    shift, acc, multiplier = grid(np.arange(SHIFT_MIN, SHIFT_MAX + 1), values, multipliers)
    count = 200_000
    random = [
        (rng.integers(INT32_MIN + 1, INT32_MAX, count, endpoint=True) >> rng.integers(0, 31, count))
        for _ in range(2)
    ]
    shifts = rng.integers(SHIFT_MIN, SHIFT_MAX, count, endpoint=True)
    pairs = ((shift, shifts), (acc, random[0]), (multiplier, random[1]))
    first, second, third = (np.concatenate(pair) for pair in pairs)
    return first, second, third


def rshr_cases() -> tuple[Array, Array]:
    """(shift, x) within the contract: x + 2**(shift-1) does not overflow."""
    shift, x = grid(np.arange(0, 32), edges())
    half = np.where(shift > 0, 2 ** np.maximum(shift - 1, 0), 0)
    legal = x + half <= INT32_MAX
    return shift[legal], x[legal]


def add_cases(rng: np.random.Generator) -> dict[str, Array]:
    """Additions within the bound that `AddParams` states, many of them close to it."""
    count = 200_000
    shift = rng.integers(1, 31, count)
    room = (INT32_MAX - 2 ** (shift - 1)) // 255
    share = rng.integers(0, room, endpoint=True)
    codes = np.array([-128, -127, -1, 0, 1, 126, 127])
    return {
        "shift": shift,
        "a": rng.choice(codes, count),
        "b": rng.integers(-128, 128, count),
        "za": rng.choice(codes, count),
        "zb": rng.choice(codes, count),
        "ma": share * rng.choice([-1, 1], count),
        "mb": (room - share) * rng.choice([-1, 1], count),
        "zy": rng.integers(-128, 128, count),
    }


def twice_cases(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """(shift, x, multiplier) within the contract of `scaled_twice`, most of them at ties."""
    least = 2**30
    multipliers = np.array([0, least, least + 1, 3 * 2**29, INT32_MAX - 1, INT32_MAX])
    shift, x, multiplier = grid(np.arange(-31, 31), edges(), multipliers)
    count = 200_000
    shifts = rng.integers(-31, 8, count)
    drawn = rng.integers(least, INT32_MAX, count, endpoint=True)
    # Accumulators whose first rounding gives an odd multiple of half a step, and their neighbours.
    halves = (2 * rng.integers(-300, 300, count) + 1) << np.maximum(-shifts - 1, 0)
    near = np.round(halves * 2.0**31 / drawn).astype(np.int64) + rng.integers(-1, 2, count)
    wide = rng.integers(INT32_MIN, INT32_MAX, count, endpoint=True) >> rng.integers(0, 31, count)
    numbers = np.where(rng.random(count) < 0.7, near, wide)
    pairs = ((shift, shifts), (x, numbers), (multiplier, drawn))
    all_shifts, xs, ms = (np.concatenate(pair) for pair in pairs)
    fits = np.abs(xs << np.maximum(all_shifts, 0)) <= INT32_MAX
    return all_shifts[fits], xs[fits], ms[fits]


def twice_parts(rng: np.random.Generator) -> list[tuple[Array, Array]]:
    """Records of the forms that equal TensorFlow Lite Micro, and what numpy says."""
    shift, x, multiplier = twice_cases(rng)
    exact = scaled_twice(x, multiplier, shift)
    zero, low, high = (rng.integers(*ends, len(x)) for ends in ((-128, 128), (-128, 0), (0, 128)))
    codes = np.clip(zero + exact, low, high)
    simple = (shift <= -1) & (shift >= -22) & (np.abs(x) < 2**30)
    right = np.where(simple, -shift, 1)
    offset = (zero << right) + (np.int64(1) << (right - 1))
    twice = records(Op.TWICE_S8, right, x, multiplier, offset, low, high)
    down = rng.integers(0, 31, len(x))
    offsets = rng.integers(-(2**29) + 1, 2**29, len(x)) >> rng.integers(0, 28, len(x))
    distance, fine = rng.integers(-255, 256, len(x)), rng.integers(0, 32, len(x))
    high_words = ((x * multiplier + 2**31) >> 32) + offsets
    return [
        (records(Op.SCALED_TWICE, shift, x, multiplier), exact),
        (records(Op.TWICE_ANY_S8, shift, x, multiplier, zero, low, high), codes),
        (twice[simple], codes[simple]),
        (
            records(Op.FINE20, fine, distance, multiplier),
            scaled_twice(distance << 20, multiplier, -fine),
        ),
        (
            records(Op.OFFSET_S8, down, x, multiplier, offsets, low, high),
            np.clip(high_words >> down, low, high),
        ),
    ]


def expectation() -> tuple[Array, Array]:
    """All records, and what fixedpoint.py says."""
    rng = np.random.default_rng(7)
    shift, acc, multiplier = requantize_cases(rng)
    exact = by_shift(requantize, shift, acc, multiplier)
    limited = np.where(shift < 32, np.clip(exact, -LIMIT, LIMIT), exact)
    zero_point = rng.integers(INT8_MIN, INT8_MAX, len(shift), endpoint=True)
    low = rng.integers(INT8_MIN, 0, len(shift), endpoint=True)
    high = rng.integers(0, INT8_MAX, len(shift), endpoint=True)
    x_shift, x = rshr_cases()
    add = add_cases(rng)
    total = (add["a"] - add["za"]) * add["ma"] + (add["b"] - add["zb"]) * add["mb"]
    operands = [add[name] for name in ("a", "b", "za", "zb", "ma", "mb", "zy")]
    parts = [
        (records(Op.REQUANTIZE, shift, acc, multiplier), limited),
        (records(Op.REQUANTIZE_VARIABLE, shift, acc, multiplier), limited),
        (
            records(Op.REQUANTIZE_S8, shift, acc, multiplier, zero_point, low, high),
            np.clip(zero_point + exact, low, high),
        ),
        (records(Op.RSHR32, x_shift, x), by_shift(rshr, x_shift, x)),
        (
            records(Op.ADD_S8, add["shift"], *operands),
            saturate(add["zy"] + by_shift(rshr, add["shift"], total)),
        ),
        *twice_parts(rng),
    ]
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Array, Array]:
    table, expected = expectation()
    path = tmp_path_factory.mktemp("math") / "in.bin"
    table.tofile(path)
    return path, table, expected


@pytest.mark.few_cases(4)
@pytest.mark.parametrize(
    "build", [*BUILDS, Build("gcc", ("-O2", "-DEDGEC_HALF_PRODUCTS=1"))], ids=str
)
def test_c_equals_python(build: Build, cases: tuple[Path, Array, Array], tmp_path: Path):
    path, table, expected = cases
    program = build.compile([PROBE], [RUNTIME_INCLUDE], tmp_path / "probe")
    run_program(program, path, tmp_path / "out.bin")
    found = np.fromfile(tmp_path / "out.bin", np.int32)
    assert len(found) == len(expected)
    wrong = np.flatnonzero(found != expected)
    assert wrong.size == 0, (
        f"{wrong.size} of {len(found)} differ; first: record {table[wrong[0]].tolist()} "
        f"gives {found[wrong[0]]} instead of {expected[wrong[0]]}"
    )


@pytest.mark.parametrize("name", ["g++", "clang++", "arm-none-eabi-gcc", "arm-none-eabi-g++"])
def test_header_is_clean_for_other_compilers(name: str, tmp_path: Path):
    from edgec.toolchain import process
    from edgec.toolchain.cc import WARNING_FLAGS

    compiler = process.which(name)
    if compiler is None:
        pytest.skip(f"{name} is not installed")
    is_cpp = name.endswith("++")
    c_only = ("-Wstrict-prototypes", "-Wmissing-prototypes")
    source = tmp_path / f"use.{'cpp' if is_cpp else 'c'}"
    source.write_text('#include "edgec/edgec.h"\n#include "edgec/arithmetic/math.h"\n')
    warnings = [flag for flag in WARNING_FLAGS if not (is_cpp and flag in c_only)]
    standard = "-std=c++17" if is_cpp else "-std=c11"
    argv = [compiler, standard, *warnings, f"-I{RUNTIME_INCLUDE}", "-c", source]
    done = process.run([*argv, "-o", tmp_path / "use.o"], timeout_s=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("core", "most"), [("cortex-m3", 12), ("cortex-m4", 10), ("cortex-m33", 10)]
)
def test_requantization_is_a_few_instructions(core: str, most: int, tmp_path: Path):
    """With a shift of 32: one long multiply, the zero point, the clamp, no branch."""
    from edgec.toolchain import process

    compiler = process.which("arm-none-eabi-gcc")
    if compiler is None:
        pytest.skip("arm-none-eabi-gcc is not installed")
    source = tmp_path / "store.c"
    source.write_text(
        '#include "edgec/arithmetic/math.h"\n'
        "int8_t store(int32_t acc, int32_t multiplier);\n"
        "int8_t store(int32_t acc, int32_t multiplier) {\n"
        "    return edgec_requantize_s8(acc, multiplier, 32, 3, -128, 127);\n}\n"
    )
    argv = [compiler, "-O2", f"-mcpu={core}", "-mthumb", f"-I{RUNTIME_INCLUDE}", "-S", source]
    done = process.run([*argv, "-o", tmp_path / "store.s"], timeout_s=60)
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "store.s").read_text().splitlines()
    code = [line.split()[0] for line in lines if line.startswith("\t") and line[1] not in ".@"]
    assert len(code) <= most and sum(name.startswith("b") for name in code) == 1, code
