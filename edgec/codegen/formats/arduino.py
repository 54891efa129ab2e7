"""A library of the Arduino IDE and CLI: headers and sources share `src/`."""

from __future__ import annotations

from edgec.codegen.formats.record import Format

FORMAT = Format(
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
