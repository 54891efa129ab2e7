"""Runtime headers that a piece of generated C needs, and the folder in which a library has them.

Libraries that different versions of edgec made may meet in one program, and build systems such as
Zephyr's put the include folders of all libraries on one path.  So a library has its headers in a
folder whose name holds a digest of the whole runtime, such as `edgec_3f9a2c10/math.h`.  A file that
includes the headers of two models needs one runtime for both; else there is an `#error`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache

from edgec.base.resources import data_dir

FOLDER = "edgec"
"""The folder of the runtime headers, as edgec's own `#include` lines name it."""
BASE = "arithmetic/math.h"
"""The header that every source includes: it refuses compilers that its arithmetic is not for."""

_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_WORD = re.compile(r"\b(?:edgec|EDGEC)_\w+")
_INCLUDE = re.compile(rf'^\s*#\s*include\s+"{FOLDER}(?:_[0-9a-f]{{8}})?/([\w./]+)"', re.M)
_UNSET = "#define EDGEC_RUNTIME 0x0UL"
_DEFINITIONS = (
    re.compile(r"^\s*#\s*define\s+(\w+)", re.M),
    re.compile(r"^typedef\b[^{;]*?(\w+)\s*;", re.M),
    re.compile(r"^\}\s*(\w+)\s*;", re.M),
    re.compile(r"^[A-Za-z_][^\n;=]*?\b(\w+)\(", re.M),
    re.compile(r"^\s+(EDGEC_\w+)\s*(?:=|,)", re.M),
)
"""Patterns of definitions in a header: macros, one-line types, structs, functions, enumerators."""


@cache
def runtime_headers() -> dict[str, str]:
    """The text of every runtime header, by its path below `FOLDER`."""
    folder = data_dir("firmware") / "runtime" / "include" / FOLDER
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in sorted(folder.rglob("*.h"))
    }


@cache
def runtime_number() -> str:
    """A number for the text of all runtime headers, eight hexadecimal digits."""
    digest = hashlib.sha256(repr(sorted(runtime_headers().items())).encode())
    return digest.hexdigest()[:8]


def library_folder() -> str:
    """The folder of the runtime headers, as the `#include` lines of a library name it."""
    return f"{FOLDER}_{runtime_number()}"


def in_library(text: str) -> str:
    """A file of edgec's as it stands in a library, with the folder and number of the runtime.

    Args:
        text: C, or another file, which stays as it is.
    """
    own = _INCLUDE.sub(lambda m: m[0].replace(f'"{FOLDER}/', f'"{library_folder()}/'), text)
    return own.replace(_UNSET, f"#define EDGEC_RUNTIME 0x{runtime_number()}UL")


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
