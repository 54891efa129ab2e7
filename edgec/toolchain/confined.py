"""Programs that a model, a project or a build of somebody else may have made run confined.

They compute on what comes through their pipes: they need no network and write no file.  Bubblewrap
sees to that where it is installed and works, else Linux namespaces, where the system permits them;
in many containers it permits neither, as do Windows and macOS, and reports say so.
"""

from __future__ import annotations

import enum
import functools
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from edgec.base.errors import BuildError
from edgec.toolchain import process

_LAUNCHER = Path(__file__).with_name("confine_launcher.py")
_BUBBLEWRAP = "bwrap"
_PROBE_TIMEOUT_S = 10.0


class Confinement(enum.Enum):
    """Mechanisms that keep a program from the network, from files and from other processes."""

    BUBBLEWRAP = "bubblewrap"
    NAMESPACES = "namespaces"
    NONE = "none"


@functools.cache
def confinement() -> Confinement:
    """The best that this system permits, found by trying it once."""
    if not (sys.platform.startswith("linux") and hasattr(os, "fork")):
        return Confinement.NONE
    for kind in (Confinement.BUBBLEWRAP, Confinement.NAMESPACES):
        if _works(kind):
            return kind
    return Confinement.NONE


def confined(argv: Sequence[str | Path]) -> list[str | Path]:
    """The words that run a program confined, or as it is where nothing can confine it.

    A program that is not there is left to whoever starts it, who says so.
    """
    missing = process.which(str(argv[0])) is None
    return list(argv) if missing else _words(confinement(), argv)


def _works(kind: Confinement) -> bool:
    program = process.which("true")
    if program is None or (kind is Confinement.BUBBLEWRAP and process.which(_BUBBLEWRAP) is None):
        return False
    try:
        return process.run(_words(kind, [program]), timeout_s=_PROBE_TIMEOUT_S).returncode == 0
    except BuildError:
        return False


def _words(kind: Confinement, argv: Sequence[str | Path]) -> list[str | Path]:
    launcher = (sys.executable, "-I", "-S", _LAUNCHER)
    match kind:
        case Confinement.BUBBLEWRAP:
            files = ("--ro-bind", "/", "/", "--dev", "/dev")
            rest = ("--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--")
            return [
                process.which(_BUBBLEWRAP) or _BUBBLEWRAP,
                *files,
                *rest,
                *launcher,
                "seal",
                *argv,
            ]
        case Confinement.NAMESPACES:
            return [*launcher, "namespaces", *argv]
    return list(argv)
