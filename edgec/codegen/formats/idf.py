"""A component of ESP-IDF, with an example project."""

from __future__ import annotations

from edgec.codegen.formats.record import Format

FORMAT = Format(
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
