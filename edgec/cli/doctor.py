"""The command `edgec doctor`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from edgec.cli.options import (
    Json,
)
from edgec.report import console
from edgec.report.tables import table

if TYPE_CHECKING:
    from edgec.toolchain.doctor import Check


def doctor(json: Json = False) -> None:
    """Check that compilers, PlatformIO and emulators are installed; say how to get the others."""
    from edgec.toolchain.doctor import diagnose

    checks = diagnose()
    if json:
        console.print_json([check.to_json() for check in checks])
    else:
        print_doctor(checks, console.out)
    if any(check.required and not check.ok for check in checks):
        raise typer.Exit(1)


def print_doctor(checks: Sequence[Check], out: Console) -> None:
    """Print a table of tools: installed, missing, and the command that installs each."""
    rows = [(_mark(c), c.name, c.found, c.purpose, c.install) for c in checks]
    out.print(table("edgec doctor", ("", "what", "found", "needed for", "to install"), rows))


def _mark(check: Check) -> str:
    return "ok" if check.ok else "MISSING" if check.required else "absent"
