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
    """Print for what this computer is ready, and what is missing; with `-v` every tool."""
    from edgec.toolchain.doctor import USES

    if console.is_verbose():
        rows = [(_mark(c), c.name, c.found, c.purpose, c.install) for c in checks]
        columns = ("", "what", "found", "needed for", "to install")
        out.print(table("edgec doctor", columns, rows))
    width = max(len(use.title) for use in USES)
    for use in USES:
        missing = use.missing(checks)
        shown = missing[:1] if use.one_is_enough else missing
        title = f"{use.title:<{width}}"
        if not missing:
            out.print(f"{title}  [green]ready[/]")
            continue
        names = f"one of {', '.join(check.name for check in missing)}"
        names = names if use.one_is_enough else names.removeprefix("one of ")
        console.print_prose(f"{title}  [yellow]needs[/] {names}", out)
        for install in dict.fromkeys(check.install for check in shown if check.install):
            out.print(f"{'':<{width}}  [bold green]{console.safe(install)}[/]")
    if not console.is_verbose():
        out.print(f"{len(checks)} programs and packages were looked at; -v shows all")


def _mark(check: Check) -> str:
    return "ok" if check.ok else "MISSING" if check.required else "absent"
