"""A main program of the firmware: one folder below firmware/app, and what is generated for it."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.base.main_program import MainProgram
from edgec.codegen.project_contexts import MlperfContext

COMMON = "common"
"""The folder of what main programs share."""


@dataclass(frozen=True, slots=True, eq=False)
class FirmwareApp:
    """A main program.

    Attributes:
        folder: its sources, below firmware/app.
        config: a header that it includes, named as its template; None: app_config.h is enough.
        baud: bits a second of its serial line; None: those of the board file.
        main: the user's own in place of `main.c` in the folder; None: that stays.
    """

    folder: str
    config: MlperfContext | None = None
    baud: int | None = None
    main: MainProgram | None = None


CONSOLE = FirmwareApp("console")
"""The serial protocol that `edgec run --on device` and the others talk to."""
