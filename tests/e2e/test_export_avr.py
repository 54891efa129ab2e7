"""The library where `int` has 16 bits: an Arduino Mega, with Debian's tools for it."""

from pathlib import Path

import pytest
from exported_library import export, need, run

from edgec.base.resources import data_dir

pytestmark = pytest.mark.slow
ARDUINO = Path("/usr/share/arduino/hardware/arduino/avr")
MEGA = ("-mmcu=atmega2560", "-Os", "-ffunction-sections", "-fdata-sections")
WARNINGS = ("-Wall", "-Wextra", "-Werror")


def test_every_runtime_header_without_a_warning(tmp_path: Path):
    need("avr-gcc")
    include = data_dir("firmware") / "runtime" / "include"
    headers = sorted(path.name for path in (include / "edgec").glob("*.h"))
    (tmp_path / "all.c").write_text("".join(f'#include "edgec/{name}"\n' for name in headers))
    words = ("-std=c11", *MEGA, *WARNINGS, f"-I{include}", "-fsyntax-only", tmp_path / "all.c")
    run("avr-gcc", *words)


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
