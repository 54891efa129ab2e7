"""Every format of libraries: `FORMATS`."""

from __future__ import annotations

from edgec.codegen.formats import arduino, c, cmake, idf, platformio, zephyr
from edgec.codegen.formats.record import Format

FORMATS: dict[str, Format] = {
    module.FORMAT.name: module.FORMAT for module in (arduino, c, cmake, idf, platformio, zephyr)
}
"""By the name that `--as` takes."""
