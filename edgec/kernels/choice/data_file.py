"""Reader of data files: TOML, checked against the types of what it holds."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from edgec.base.errors import ConfigError

T = TypeVar("T")


def read_data(path: Path, kind: TypeAdapter[T], what: str, hint: str) -> T:
    """The content of a file.

    Args:
        path: the file.
        kind: the type of what it holds.
        what: what the file holds, for the message.
        hint: what helps if it is damaged.

    Raises:
        ConfigError: it cannot be read, or does not hold this type.
    """
    try:
        return kind.validate_python(tomllib.loads(path.read_text("utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"cannot read {what}: {error}", where=path.name, hint=hint) from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{key}: {first['msg']}", where=path.name, hint=hint) from error
