"""`--front-end`: what is computed before a model from sound, a sensor or a camera.

The option, a table of a project file, or the model's own file says which.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from edgec.base.errors import ConfigError

OPTION = "--front-end"
METADATA_KEY = "edgec.front_end"
"""Property of an ONNX file, with the text of the option."""
IMAGE = "image"
"""The front end of a camera."""
NONE = "none"
"""The name that leaves out what the model's file says."""
_NAME = re.compile("[a-z][a-z0-9-]{0,30}")
_ITEM = re.compile("([a-z][a-z0-9-]{0,30})=([a-z0-9./+-]{1,400})")


def bad_parameter(name: str, found: object, hint: str) -> ConfigError:
    """An error for a parameter of a front end that cannot be what it is."""
    return ConfigError(f"{name} cannot be {found}", where=OPTION, hint=hint)


@dataclass(frozen=True, slots=True)
class FrontEndOptions:
    """A front end and what differs from its defaults.

    Attributes:
        name: what it is called, a key of `frontends.parameters.PRESETS`.
        values: parameters as they are written, by name.
    """

    name: str
    values: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> FrontEndOptions:
        """A text like ``log-mel`` or ``log-mel:window=512,hop=256``.

        Raises:
            ConfigError: not of that form, or a parameter twice.
        """
        name, _, rest = text.partition(":")
        items = [_ITEM.fullmatch(item) for item in rest.split(",")] if rest else []
        pairs = [(item[1], item[2]) for item in items if item is not None]
        if not _NAME.fullmatch(name) or len(dict(pairs)) != len(items) or text.endswith(":"):
            raise ConfigError(
                f"cannot read {text[:80]!r}",
                where=OPTION,
                hint="like --front-end log-mel, or --front-end log-mel:window=512,hop=256",
            )
        return cls(name, dict(pairs))

    @classmethod
    def of_table(cls, table: Mapping[str, object]) -> FrontEndOptions:
        """The table of a project file: ``name`` and parameters.

        Raises:
            ConfigError: no name, or a value that is no text, number, true or false.
        """
        values = {}
        for key, value in table.items():
            if not isinstance(value, str | int | float):
                hint = "text in quotes, a number, true or false"
                raise ConfigError(f"{key[:60]} is {type(value).__name__}", where=OPTION, hint=hint)
            values[key] = str(value).lower() if isinstance(value, bool) else str(value)
        name = values.pop("name", "")
        if not name:
            hint = 'like name = "log-mel"'
            raise ConfigError("does not say which front end", where=OPTION, hint=hint)
        return cls.parse(str(cls(name, values)))

    def __str__(self) -> str:
        """The text that `parse` reads."""
        items = ",".join(f"{key}={value}" for key, value in self.values.items())
        return f"{self.name}:{items}" if items else self.name
