"""Options about the inputs of a model: their shapes, and numbers that they are fixed to."""

from __future__ import annotations

import math

from edgec.base.errors import ConfigError
from edgec.base.names import shown


def shapes_of(texts: list[str] | None) -> dict[str, tuple[int, ...]]:
    """The shapes by name that texts like `NAME=1,3,32,32` say."""
    shapes: dict[str, tuple[int, ...]] = {}
    for text in texts or []:
        name, separator, sizes = text.rpartition("=")
        try:
            shape = tuple(int(size) for size in sizes.split(","))
        except ValueError:
            shape = ()
        if not separator or not name or not shape or min(shape) < 1:
            raise ConfigError(
                f"cannot read the shape {text!r}", where="--shape", hint="like --shape x=1,3,32,32"
            )
        shapes[name] = shape
    return shapes


_WORDS = {"true": 1, "false": 0}


def values_of(texts: list[str] | None) -> dict[str, tuple[int | float, ...]]:
    """The numbers by name that texts like `NAME=16000` and `NAME=1,0,2.5` say."""
    values: dict[str, tuple[int | float, ...]] = {}
    for text in texts or []:
        name, separator, listed = text.rpartition("=")
        numbers = tuple(map(_number, listed.split(",")))
        found = tuple(number for number in numbers if number is not None)
        if not separator or not name or len(found) < len(numbers) or name in values:
            raise ConfigError(
                f"cannot read the value {shown(text)!r}",
                where="--value",
                hint="like --value sr=16000, once for each input",
            )
        values[name] = found
    return values


def _number(text: str) -> int | float | None:
    """A finite number, or true or false; None of any other text."""
    try:
        return _WORDS[text.lower()] if text.lower() in _WORDS else int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
