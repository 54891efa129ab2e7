"""Plain C: sources, headers, and a Makefile for the example."""

from __future__ import annotations

from edgec.codegen.formats.record import Format

FORMAT = Format(
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
