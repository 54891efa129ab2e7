"""Numbers and text as C literals."""

from __future__ import annotations

import string
from collections.abc import Sequence

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError
from edgec.base.fixedpoint import INT32_MAX, INT32_MIN

_COLUMNS = 96
_HARMLESS = frozenset(string.ascii_letters + string.digits + " +,-./:_")
_QUOTABLE = _HARMLESS | frozenset("!#$%&'()*;<=>@[]^`{|}~")
_PLAIN = frozenset(string.ascii_letters + string.digits + " !#$%&'()+,-./:;<=>@[]^_`{|}~")


def c_int(value: int) -> str:
    """A signed 32-bit integer, as an expression of type int.

    -2^31 has no literal of its own in C: ``-2147483648`` is a negated long.
    """
    if not INT32_MIN <= value <= INT32_MAX:
        raise InternalError(f"{value} does not fit 32 bits")
    if value == INT32_MIN:
        return "(-2147483647 - 1)"
    return str(int(value))


def c_hex(value: int) -> str:
    """An unsigned 32-bit integer in hexadecimal digits, with its U suffix."""
    if not 0 <= value < 2**32:
        raise InternalError(f"{value} does not fit 32 bits")
    return f"0x{int(value):X}U"


def c_float(value: float) -> str:
    """The shortest decimal literal that reads back as the same double."""
    text = repr(float(value))
    return text if any(mark in text for mark in ".en") else f"{text}.0"


def c_array(array: Array, indent: int = 4) -> str:
    """The elements of an integer array, row-major, as lines of an initializer."""
    flat = array.ravel().tolist()
    if array.dtype.itemsize < 4 or INT32_MIN not in flat:
        words = [str(value) for value in flat]
    else:
        words = [c_int(value) for value in flat]
    return c_list(words, indent)


def c_list(words: Sequence[str], indent: int = 4) -> str:
    """Elements of an array as lines of an initializer."""
    margin = " " * indent
    lines: list[str] = []
    line = ""
    for word in words:
        if line and len(line) + len(word) + 2 > _COLUMNS - indent:
            lines.append(f"{margin}{line},")
            line = word
        else:
            line = f"{line}, {word}" if line else word
    return "\n".join([*lines, f"{margin}{line},"])


def comment_text(text: str, limit: int = 80) -> str:
    """Untrusted text for a C comment: plain ASCII, one line, at most `limit` characters.

    Everything that could end the comment, continue a line or form a trigraph becomes "?", and two
    of these never follow each other.
    """
    shortened = text if len(text) <= limit else f"{text[: limit - 3]}..."
    safe = "".join(char if char in _PLAIN else "?" for char in shortened)
    while "??" in safe:
        safe = safe.replace("??", "?")
    return safe


def harmless_text(text: str, limit: int = 60) -> str:
    """Untrusted text for comments, Markdown and quotes of any language: letters and few signs."""
    shortened = text if len(text) <= limit else f"{text[: limit - 3]}..."
    safe = "".join(char if char in _HARMLESS else "_" for char in shortened)
    return safe.strip() or "unnamed"


def c_string(text: str) -> str:
    """Untrusted text as a C string literal of its UTF-8 bytes.

    What is not plain ASCII becomes an octal escape, which always has three digits here, so that no
    digit after it is taken for a part of it; question marks do too, as two begin a trigraph.
    """
    encoded = text.encode("utf-8", "surrogatepass")
    words = (chr(byte) if chr(byte) in _QUOTABLE else f"\\{byte:03o}" for byte in encoded)
    return f'"{"".join(words)}"'
