"""Long tables of C as string literals, which compilers read twenty times as fast as numbers.

A compiler spends a second or two on every million numbers, more than on all else in a library.
Read from a literal, the bytes of the object file are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

QUIET = """\
#if defined(__clang__)
#if __has_warning("-Wunterminated-string-initialization")
#pragma clang diagnostic ignored "-Wunterminated-string-initialization"
#endif
#elif defined(__GNUC__) && __GNUC__ >= 15
#pragma GCC diagnostic ignored "-Wunterminated-string-initialization"
#endif
"""
"""Beginning of such a file: newer compilers warn of a literal that fills its array."""
_TABLE = re.compile(r"(const int8_t \w+\[(\d+)\] = )\{([-0-9,\s]+)\};")
_OCTAL = re.compile("[^0-9]0[0-9]")
_DIGITS = 4
_IN_LITERAL = 1000 * _DIGITS
_ESCAPES = np.array([f"\\{byte:03o}" for byte in range(256)], f"S{_DIGITS}")
_CODES = np.iinfo(np.int8)


def quick_parts(lines: Iterable[str]) -> Iterator[str]:
    """Parts of a long file of C, each as `with_quick_tables` gives it, a table at a time.

    Args:
        lines: the lines of the file, with their ends.
    """
    part: list[str] = []
    for line in lines:
        part.append(line)
        if line.startswith("};"):
            yield with_quick_tables("".join(part))
            part = []
    yield with_quick_tables("".join(part))


def with_quick_tables(source: str) -> str:
    """C of the same meaning, its tables of int8 numbers written as string literals.

    Args:
        source: C.  A table is replaced where it holds as many numbers as it says, all of them int8.
    """
    return _TABLE.sub(_as_literal, source)


def _as_literal(table: re.Match[str]) -> str:
    if _OCTAL.search(table[3]):
        return table[0]
    try:
        numbers = np.fromstring(table[3].rstrip(), np.int64, sep=",")
    except ValueError:  # expressions
        return table[0]
    if len(numbers) != int(table[2]) or numbers.min() < _CODES.min or numbers.max() > _CODES.max:
        return table[0]
    escaped = _ESCAPES[numbers.astype(np.int8).view(np.uint8)].tobytes().decode("ascii")
    starts = range(0, len(escaped), _IN_LITERAL)
    lines = (f'    "{escaped[start : start + _IN_LITERAL]}"' for start in starts)
    return "\n".join([table[1].rstrip(), *lines]) + ";"
