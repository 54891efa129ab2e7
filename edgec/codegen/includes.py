"""Which of edgec's runtime headers a piece of generated C needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from edgec.base.resources import data_dir

FOLDER = "edgec"
"""The folder of the runtime headers, as `#include` names it."""
BASE = "math.h"
"""The header that every source includes: it refuses compilers that its arithmetic is not for."""

_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_WORD = re.compile(r"\b(?:edgec|EDGEC)_\w+")
_INCLUDE = re.compile(rf'^\s*#\s*include\s+"{FOLDER}/([\w.]+)"', re.M)
_DEFINITIONS = (
    re.compile(r"^\s*#\s*define\s+(\w+)", re.M),
    re.compile(r"^typedef\b[^{;]*?(\w+)\s*;", re.M),
    re.compile(r"^\}\s*(\w+)\s*;", re.M),
    re.compile(r"^[A-Za-z_][^\n;=]*?\b(\w+)\(", re.M),
    re.compile(r"^\s+(EDGEC_\w+)\s*(?:=|,)", re.M),
)
"""How a header defines macros, types of one line, structs, functions and enumerators."""


@cache
def runtime_headers() -> dict[str, str]:
    """The text of every runtime header, by file name."""
    folder = data_dir("firmware") / "runtime" / "include" / FOLDER
    return {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.h"))}


def used_headers(code: str, headers: Mapping[str, str]) -> tuple[str, ...]:
    """The headers, in order of their names, that define a name which `code` uses, and `BASE`.

    Args:
        code: C as it is compiled; what its own `#include` lines say has no part in the answer.
        headers: text by file name.
    """
    words = set(_WORD.findall(_COMMENT.sub("", code)))
    used = (name for name, text in headers.items() if words & _defined(text))
    return tuple(sorted({BASE, *used}))


def closure(code: Iterable[str], headers: Mapping[str, str]) -> tuple[str, ...]:
    """The headers, in order of their names, that pieces of code include, directly or not.

    Args:
        code: pieces of C with their `#include` lines.
        headers: text by file name; an include of anything else is none of edgec's.
    """
    waiting = [name for text in code for name in _INCLUDE.findall(text)]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in headers and name not in found:
            found.add(name)
            waiting += _INCLUDE.findall(headers[name])
    return tuple(sorted(found))


@cache
def _defined(text: str) -> frozenset[str]:
    plain = _COMMENT.sub("", text)
    return frozenset(name for pattern in _DEFINITIONS for name in pattern.findall(plain))
