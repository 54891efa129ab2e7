"""Names of classes that the user gives: one a line of a text file."""

from __future__ import annotations

from pathlib import Path

from edgec.base.errors import ConfigError, system_reason

_MOST_BYTES = 1 << 20


def read_labels(path: Path) -> tuple[str, ...]:
    """The names of classes in a text file, one a line; empty lines at its end do not count.

    Raises:
        ConfigError: there is no such file, it is no text in UTF-8, too large, or empty.
    """
    hint = "give a text file in UTF-8 with the name of a class on each line"
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ConfigError("is too large for a list of labels", where=str(path), hint=hint)
        text = path.read_text("utf-8-sig")
    except OSError as error:
        reason = f"cannot be read: {system_reason(error)}"
        raise ConfigError(reason, where=str(path), hint=hint) from error
    except UnicodeDecodeError as error:
        raise ConfigError("is no text in UTF-8", where=str(path), hint=hint) from error
    lines = text.rstrip("\n").split("\n")
    if lines == [""]:
        raise ConfigError("holds no labels", where=str(path), hint=hint)
    return tuple(lines)
