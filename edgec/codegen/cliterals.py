"""Numbers and text as C literals."""

from __future__ import annotations

import string
from collections.abc import Sequence

import numpy as np

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
    flat, start = array.reshape(-1), 0
    if not flat.size:
        return c_list([], indent)
    parts = []
    while start < flat.size:
        text, used = _lines(flat[start : start + _TOGETHER], flat.size - start, indent)
        parts.append(text)
        start += used
    return "\n".join(parts)


_TOGETHER = 1 << 16
"""Elements that are written at a time: a list of all words would take a hundred bytes for each."""
_FEW_NUMBERS = 1 << 10
"""Numbers from the least to the greatest one whose words are made without a look which occur."""


def _lines(values: Array, left: int, indent: int) -> tuple[str, int]:
    """Lines as `c_list` makes them, without the last one if it could go on.

    Args:
        values: the next elements, [N].
        left: how many there are from these on.
        indent: spaces before a line.

    Returns:
        The lines, and how many elements they have.
    """
    low, high = int(values.min()), int(values.max())
    if high - low < _FEW_NUMBERS:
        numbers, places = np.arange(low, high + 1), values.astype(np.int64) - low
    else:
        numbers, places = np.unique(values, return_inverse=True)
    found = [c_int(number) if number == INT32_MIN else str(number) for number in numbers.tolist()]
    words = np.array(found, np.bytes_)
    sizes = np.char.str_len(words)[places]
    ends = np.cumsum(sizes + 2)
    most = ends - (sizes + 2) + (_COLUMNS - indent + 2)
    after = np.maximum(np.searchsorted(ends, most, side="right"), np.arange(1, len(ends) + 1))
    steps, begins = after.tolist(), [0]
    while steps[begins[-1]] < len(ends):
        begins.append(steps[begins[-1]])
    if left > len(ends) and len(begins) > 1:
        count = begins.pop()
        sizes, places = sizes[:count], places[:count]
    before = np.ones(len(sizes), np.int64)
    before[begins] = indent + 1
    last = np.cumsum(before + sizes + 1) - 1  # where the commas are
    letters = words.view(np.uint8).reshape(len(words), -1)
    text = np.empty(int(last[-1]) + 1 + letters.shape[1], np.uint8)
    first = last - sizes
    # From the last letter on: what is beyond the end of a word is overwritten.
    for index in reversed(range(letters.shape[1])):
        text[first + index] = letters[places, index]
    text[last] = ord(",")
    text[last[:-1] + 1] = ord(" ")
    lines = (first - before)[begins]
    for index in range(1, indent + 1):
        text[lines + index] = ord(" ")
    text[lines] = ord("\n")
    return text[1 : last[-1] + 1].tobytes().decode("ascii"), len(sizes)


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
