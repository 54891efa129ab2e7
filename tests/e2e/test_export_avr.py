"""The library where `int` has 16 bits: an Arduino Mega, with Debian's tools for it."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from exported_library import computed, export, need, run

from edgec.base.resources import data_dir
from edgec.codegen.includes import runtime_headers

pytestmark = pytest.mark.slow
ARDUINO = Path("/usr/share/arduino/hardware/arduino/avr")
MEGA = ("-mmcu=atmega2560", "-Os", "-ffunction-sections", "-fdata-sections")
WARNINGS = ("-Wall", "-Wextra", "-Werror")


def test_every_runtime_header_without_a_warning(tmp_path: Path):
    need("avr-gcc")
    include = data_dir("firmware") / "runtime" / "include"
    lines = (f'#include "edgec/{name}"\n' for name in runtime_headers())
    (tmp_path / "all.c").write_text("".join(lines))
    words = ("-std=c11", *MEGA, *WARNINGS, f"-I{include}", "-fsyntax-only", tmp_path / "all.c")
    run("avr-gcc", *words)


PROGRAM = """
#include <avr/io.h>
#include <stdint.h>
#include "edgec_digits_mlp.h"
static void put(char code) {
    while ((UCSR0A & (1 << UDRE0)) == 0) {
    }
    UDR0 = code;
}
static void put_number(int number) {
    int place = 100;
    put(number < 0 ? '-' : '+');
    for (number = number < 0 ? -number : number; place > 0; place /= 10) {
        put((char)('0' + number / place % 10));
    }
}
int main(void) {
    static int8_t arena[EDGEC_DIGITS_MLP_ARENA_BYTES] __attribute__((aligned(8)));
    edgec_context_t context;
    UCSR0B = 1 << TXEN0;
    put_number((int)edgec_digits_mlp_init(&context, arena, sizeof arena));
    static float values[64];
    for (int i = 0; i < 64; i++) {
        const int code = i * 3 - 100;
        const int steps = code - EDGEC_DIGITS_MLP_INPUT_0_ZERO_POINT;
        values[i] = (float)EDGEC_DIGITS_MLP_INPUT_0_SCALE * (float)steps;
    }
    put_number((int)edgec_digits_mlp_quantize(&context, values));
    put_number((int)edgec_digits_mlp_run(&context));
    const int8_t *const y = edgec_digits_mlp_output(&context, 0);
    for (int i = 0; i < 10; i++) {
        put_number(y[i]);
    }
    put_number((int)edgec_digits_mlp_argmax(&context));
    put('\\n');
    for (;;) {
    }
}
"""
"""Prints three states, ten codes and the number of the largest."""


def printed(elf: Path) -> list[int]:
    """The numbers of the first line that a program for a Mega prints in simavr."""
    words = ("simavr", "-m", "atmega2560", "-f", "16000000", elf)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as on:
        assert on.stdout is not None
        try:
            lines = (re.findall(r"[+-]\d{3}", line) for line in on.stdout)
            return next([int(number) for number in line] for line in lines if line)
        finally:
            on.kill()


@pytest.mark.parametrize("optimize", ["-O0", "-Os", "-O2"])
def test_codes_of_a_mega(compiled_mlp: Path, tmp_path: Path, optimize: str):
    """In simavr: QEMU 7.2 never comes back from this run if it was optimized."""
    need("avr-gcc", "simavr")
    out = export(compiled_mlp, "c", tmp_path / "library")
    (tmp_path / "main.c").write_text(PROGRAM)
    sources = [tmp_path / "main.c", *sorted((out / "src").glob("*.c"))]
    elf = tmp_path / "mega.elf"
    run(
        "avr-gcc", "-std=c11", "-mmcu=atmega2560", optimize, f"-I{out}/include", *sources, "-o", elf
    )
    wanted = computed(compiled_mlp, (np.arange(64) * 3 - 100).astype(np.int8), tmp_path / "host")
    assert printed(elf) == [0, 0, 0, *wanted.tolist(), int(wanted.argmax())]


def test_the_sketch_for_a_mega(compiled_mlp: Path, tmp_path: Path):
    """The core, the library and the sketch, linked as the Arduino IDE does."""
    need("avr-gcc", "avr-g++", "avr-size")
    if not ARDUINO.is_dir():
        pytest.skip("Arduino's core is not installed (apt: arduino-core-avr)")
    out = export(compiled_mlp, "arduino", tmp_path / "library")
    places = (ARDUINO / "cores" / "arduino", ARDUINO / "variants" / "mega", out / "src")
    board = ("-DF_CPU=16000000L", "-DARDUINO=10819", "-DARDUINO_AVR_MEGA2560")
    flags = (*MEGA, *board, "-DARDUINO_ARCH_AVR", *(f"-I{place}" for place in places))
    # The core takes it for a macro of every C++ dialect.
    cpp = ("-std=gnu++11", "-fno-exceptions", "-DDECIMAL_DIG=__DECIMAL_DIG__")
    cpp += ("-fno-threadsafe-statics",)
    objects = tmp_path / "objects"
    objects.mkdir()
    run("avr-gcc", *flags, "-c", *sorted(places[0].glob("*.[cS]")), cwd=objects)
    run("avr-g++", *flags, *cpp, "-c", *sorted(places[0].glob("*.cpp")), cwd=objects)
    sources = sorted((out / "src").glob("*.c"))
    run("avr-gcc", *flags, "-std=gnu11", *WARNINGS, "-c", *sources, cwd=objects)
    sketch = ("-include", "Arduino.h", "-xc++", out / "examples" / "run_once" / "run_once.ino")
    run("avr-g++", *flags, *cpp, *WARNINGS, "-c", *sketch, "-o", "sketch.o", cwd=objects)
    elf = tmp_path / "sketch.elf"
    run("avr-gcc", *MEGA, "-Wl,--gc-sections", *sorted(objects.glob("*.o")), "-lm", "-o", elf)
    text, data, bss = map(int, run("avr-size", elf).splitlines()[1].split()[:3])
    assert text + data < 13_000
    assert data + bss < 5_000
