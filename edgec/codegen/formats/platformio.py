"""A library of PlatformIO, for its folder `lib/` or for `lib_deps`."""

from __future__ import annotations

from edgec.codegen.formats.record import Format

FORMAT = Format(
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
