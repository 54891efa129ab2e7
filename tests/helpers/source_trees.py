"""The syntax trees of edgec's own modules, read once for all tests of a process."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from places import PACKAGE


@cache
def module_trees() -> dict[Path, ast.Module]:
    """Every module of the package, in order of its path."""
    return {path: ast.parse(path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
