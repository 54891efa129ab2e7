"""Every format of libraries that edgec writes for other build systems: `FORMATS`."""

from __future__ import annotations

from edgec.codegen.formats.record import Format

C = Format(
    name="c",
    title="C sources with a Makefile",
    code="src",
    headers="include",
    templates={
        "README.md": "formats/c/README.md.j2",
        "Makefile": "formats/c/Makefile.j2",
        "example/main.c": "formats/main.c.j2",
    },
    next_step="run make in the folder to build and run its example",
)
"""Plain C: sources, headers, and a Makefile for the example."""

PLATFORMIO = Format(
    name="platformio",
    title="PlatformIO library",
    code="src",
    headers="include",
    templates={
        "README.md": "formats/platformio/README.md.j2",
        "library.json": "formats/platformio/library.json.j2",
        "examples/run_once/main.c": "formats/main.c.j2",
    },
    next_step="copy the folder into lib/ of a project, or name it in lib_deps",
)
"""A library of PlatformIO, for its folder `lib/` or for `lib_deps`."""

ARDUINO = Format(
    name="arduino",
    title="Arduino library",
    code="src",
    headers="src",
    templates={
        "README.md": "formats/arduino/README.md.j2",
        "library.properties": "formats/arduino/library.properties.j2",
        "keywords.txt": "formats/arduino/keywords.txt.j2",
        "examples/run_once/run_once.ino": "formats/arduino/run_once.ino.j2",
    },
    next_step="copy the folder into libraries/ of the sketchbook",
)
"""A library of the Arduino IDE and CLI: headers and sources share `src/`."""

CMAKE = Format(
    name="cmake",
    title="CMake package",
    code="src",
    headers="include",
    templates={
        "README.md": "formats/cmake/README.md.j2",
        "CMakeLists.txt": "formats/cmake/CMakeLists.txt.j2",
        "cmake/{prefix}-config.cmake": "formats/cmake/config.cmake.j2",
        "example/CMakeLists.txt": "formats/cmake/example.txt.j2",
        "example/main.c": "formats/main.c.j2",
    },
    next_step="name the folder in FetchContent_Declare, or install it for find_package",
)
"""A CMake package: for `add_subdirectory`, `FetchContent` and, installed, `find_package`."""

IDF = Format(
    name="idf",
    title="ESP-IDF component",
    code="src",
    headers="include",
    templates={
        "README.md": "formats/idf/README.md.j2",
        "idf_component.yml": "formats/idf/idf_component.yml.j2",
        "CMakeLists.txt": "formats/idf/CMakeLists.txt.j2",
        "examples/run_once/CMakeLists.txt": "formats/idf/example.txt.j2",
        "examples/run_once/main/CMakeLists.txt": "formats/idf/example_main.txt.j2",
        "examples/run_once/main/idf_component.yml": "formats/idf/example.yml.j2",
        "examples/run_once/main/main.c": "formats/idf/main.c.j2",
    },
    next_step="copy the folder into components/ of a project",
)
"""A component of ESP-IDF, with an example project."""

ZEPHYR = Format(
    name="zephyr",
    title="Zephyr module",
    code="src",
    headers="include",
    templates={
        "README.md": "formats/zephyr/README.md.j2",
        "zephyr/module.yml": "formats/zephyr/module.yml.j2",
        "zephyr/CMakeLists.txt": "formats/zephyr/CMakeLists.txt.j2",
        "zephyr/Kconfig": "formats/zephyr/Kconfig.j2",
        "samples/run_once/CMakeLists.txt": "formats/zephyr/sample.txt.j2",
        "samples/run_once/prj.conf": "formats/zephyr/prj.conf.j2",
        "samples/run_once/sample.yaml": "formats/zephyr/sample.yaml.j2",
        "samples/run_once/src/main.c": "formats/main.c.j2",
    },
    next_step="name the folder in ZEPHYR_EXTRA_MODULES or in the manifest of west",
)
"""A module of Zephyr, with a sample."""

FORMATS: dict[str, Format] = {
    each.name: each for each in (ARDUINO, C, CMAKE, IDF, PLATFORMIO, ZEPHYR)
}
"""By the name that `--as` takes."""
