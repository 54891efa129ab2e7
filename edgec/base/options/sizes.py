"""Sizes in bytes, and the budget of firmware."""

from __future__ import annotations

import re
from dataclasses import dataclass

from edgec.base.errors import ConfigError

_BYTES = re.compile(r"([0-9]{1,10})([KkMm]?)")
_SIZE = re.compile(r"([0-9]{1,10})([KkMmGg]?)")
_BUDGET_PATTERNS = {
    "flash": _BYTES,
    "ram": _BYTES,
    "ms": re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)"),
}
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def parse_bytes(text: str, where: str) -> int:
    """A size like ``32K``; K, M and G are 1024 bytes and powers of that.

    Raises:
        ConfigError: not of that form.
    """
    found = _SIZE.fullmatch(text)
    if found is None:
        raise ConfigError(f"cannot read the size {text[:40]!r}", where=where, hint="like 32K")
    return int(found[1]) * _UNITS[found[2].upper()]


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of firmware: flash, RAM and time; None: no limit.

    Attributes:
        flash_bytes: code and weights.
        ram_bytes: variables, arena and reserved stack.
        time_ms: one inference at the board's clock, as `edgec profile` estimates it.
    """

    flash_bytes: int | None = None
    ram_bytes: int | None = None
    time_ms: float | None = None

    @classmethod
    def parse(cls, text: str) -> Budget:
        """A budget like ``flash=256K,ram=64K,ms=50``; K and M are 1024 and 1024 * 1024 bytes.

        Raises:
            ConfigError: not of that form.
        """
        limits: dict[str, int | float] = {}
        for part in text.split(","):
            key, _, value = part.strip().partition("=")
            pattern = _BUDGET_PATTERNS.get(key)
            found = pattern.fullmatch(value) if pattern else None
            if found is None or key in limits or float(found[1]) <= 0:
                hint = "like flash=256K,ram=64K,ms=50"
                raise ConfigError(f"cannot read {part[:40]!r}", where="--budget", hint=hint)
            limits[key] = float(value) if key == "ms" else int(found[1]) * _UNITS[found[2].upper()]
        flash, ram, time_ms = (limits.get(key) for key in _BUDGET_PATTERNS)
        return cls(
            None if flash is None else int(flash), None if ram is None else int(ram), time_ms
        )
