"""Builders of pool responses in C = their definition in numpy, on this computer and on Arm."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from arm_function import CORES, ArmProgram
from c_programs import BUILDS, RUNTIME_INCLUDE, SANITIZE, Build, run_program
from pool_responses import Call, Case, random_calls, source
from random_pools import random_pool

from edgec.kernels.weightpool.tables import ResponseBuilder, ResponseKind

SHAPES = ((8, 64), (8, 32), (8, 19), (8, 17), (4, 16), (4, 100), (16, 32), (16, 18))
"""Group and size of pools: with and without assembly loops, and a rest of the last word."""
LANES = ((1, 0), (2, 0), (2, 4), (2, 7), (2, 8), (2, 15))
"""Lanes and response shift."""

PACKED = ((4, 0), (4, 3), (4, 4), (4, 5), (4, 8), (4, 11), (3, 2), (3, 9), (2, 6), (1, 14))
"""Widths and response shifts of builders that multiply two pixels at a time."""

HOST_BUILDS = [
    build if build.flags in (("-O2",), SANITIZE) else pytest.param(build, marks=pytest.mark.slow)
    for build in BUILDS
]


ARM_CORES = [
    pytest.param(name, marks=pytest.mark.slow) if name in ("m4", "m7") else name for name in CORES
]
"""Those that run the same code as a Cortex-M33 are slow tests."""


@cache
def _cases() -> tuple[Case, ...]:
    """A builder of every kind and width, the other things drawn; then those with a loop."""
    rng = np.random.default_rng(5)
    cases = []
    for kind, bits in product(ResponseKind, (None, 1, 2, 3, 4, 5, 6, 7, 8)):
        number = len(cases)
        group, size = SHAPES[number % len(SHAPES)]
        lanes, shift = LANES[int(rng.integers(len(LANES)))]
        step = int(rng.choice([1, 30, 100, 500]))
        columns = 1 if step == 1 else 2
        builder = ResponseBuilder(
            kind, size, group, shift, bits, lanes, step, number % 3 != 0, columns
        )
        pool = random_pool(rng, size, group, ("any", "extremes")[number % 2])
        cases.append(Case(f"r{number}", replace(builder, has_lone_rows=number % 2 == 0), pool))
    return (*cases, *_with_loops(rng, len(cases)))


def _with_loops(rng: np.random.Generator, first: int) -> list[Case]:
    """Builders with an assembly loop on cores that have the instructions."""
    pool = random_pool(rng, 64, 8, "extremes")
    base = ResponseBuilder(ResponseKind.BITSERIAL, 64, 8, 7, 8, 2, 30, True, 2, True)
    builders = [replace(base, bits=bits, shift=shift) for bits, shift in ((8, 0), (5, 3), (3, 9))]
    builders += [replace(builder, kind=ResponseKind.MULTIPLY) for builder in builders]
    builders += [replace(builder, row_words=1100, size=16) for builder in builders]
    builders += [replace(base, kind=ResponseKind.MULTIPLY, bits=b, shift=k) for b, k in PACKED]
    builders.append(replace(base, kind=ResponseKind.MULTIPLY, has_lone_rows=False))
    small = random_pool(rng, 16, 8)
    return [
        Case(f"r{first + i}", builder, pool if builder.size == 64 else small)
        for i, builder in enumerate(builders)
    ]


def _calls() -> list[Call]:
    return random_calls(np.random.default_rng(6), _cases(), 8)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("build", HOST_BUILDS, ids=str)
def test_host(build: Build, tmp_path: Path) -> None:
    program = tmp_path / "responses.c"
    program.write_text(source(_cases(), with_main=True))
    calls = _calls()
    (tmp_path / "calls").write_bytes(b"".join(call.record() for call in calls))
    binary = build.compile([program], [RUNTIME_INCLUDE], tmp_path / "responses")
    run_program(binary, tmp_path / "calls", tmp_path / "words")
    words = np.frombuffer((tmp_path / "words").read_bytes(), "<u4")
    at = 0
    for call in calls:
        _compare(call, words[at : at + call.words])
        at += call.words
    assert at == len(words)


@pytest.mark.few_cases(1)
@pytest.mark.parametrize("core", ARM_CORES)
def test_arm(core: str, tmp_path: Path) -> None:
    file = tmp_path / "responses.c"
    file.write_text(source(_cases(), with_main=False))
    program = ArmProgram(file, CORES[core])
    for call in _calls():
        _compare(call, _run(program, call))


CYCLES = {
    ("m3", ResponseKind.BITSERIAL, 8): 1080,
    ("m3", ResponseKind.BITSERIAL, 4): 680,
    ("m3", ResponseKind.BITSERIAL, 2): 450,
    ("m4", ResponseKind.BITSERIAL, 4): 660,
    ("m4", ResponseKind.MULTIPLY, 8): 680,
    ("m4", ResponseKind.MULTIPLY, 4): 510,
    ("m33", ResponseKind.MULTIPLY, 8): 640,
    ("m7", ResponseKind.MULTIPLY, 8): 480,
    ("m0plus", ResponseKind.BITSERIAL, 4): 1650,
}
"""Most cycles per pixel and group of a pool of 64 vectors of eight, memory without wait states."""


@pytest.mark.parametrize("key", CYCLES, ids=str)
def test_cycles(key: tuple[str, ResponseKind, int], tmp_path: Path) -> None:
    core, kind, bits = key
    rng = np.random.default_rng(7)
    builder = ResponseBuilder(kind, 64, 8, 6, bits, 2, 30, True, 2)
    case = Case("r0", builder, random_pool(rng, 64, 8))
    file = tmp_path / "responses.c"
    file.write_text(source([case], with_main=False))
    pixels = rng.integers(-128, 128, (2, 2, 64)).astype(np.int8)
    call = Call(0, case, -128, pixels[0], pixels[1], 64, bits)
    program = ArmProgram(file, CORES[core])
    _compare(call, _run(program, call))
    assert program.cycles() / (2 * 8 * builder.columns) <= CYCLES[key]


def _compare(call: Call, words: np.ndarray) -> None:
    wrong = np.flatnonzero(words != call.expected())
    assert not wrong.size, f"words {wrong[:8]} of {call.case.builder}, bits {call.bits}"


def _run(program: ArmProgram, call: Call) -> np.ndarray:
    """The words that a call leaves in zeros."""
    b, out = program.buffers + 256, program.buffers + 512
    pixels = [(call.a, program.buffers + 1), (call.b, b + 2)]
    for codes, address in pixels:
        program.write(address, b"" if codes is None else codes.tobytes())
    program.write(out, bytes(4 * call.words))
    addresses = [0 if codes is None else address for codes, address in pixels]
    program.call(
        f"probe_{call.case.name}",
        *(call.zero_point, *addresses, call.channels, call.bits, out),
    )
    return np.frombuffer(program.read(out, 4 * call.words), "<u4")
