"""Where file systems are mounted: an entry that is one cannot be renamed."""

from __future__ import annotations

import re
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPE = re.compile(r"\\([0-7]{3})")


def mount_points() -> frozenset[Path]:
    """All places at which something is mounted; none on systems that do not list them."""
    try:
        lines = _MOUNTS.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return frozenset()
    return frozenset(Path(_unescaped(line.split(" ")[4])) for line in lines)


def _unescaped(text: str) -> str:
    """Spaces and the like are written as three octal digits.  Source: proc(5)."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), text)
