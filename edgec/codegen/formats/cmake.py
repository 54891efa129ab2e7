"""A CMake package: for `add_subdirectory`, `FetchContent` and, installed, `find_package`."""

from __future__ import annotations

from edgec.codegen.formats.record import Format

FORMAT = Format(
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
