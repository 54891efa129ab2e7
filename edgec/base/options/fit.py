"""Limits that `compile --fit` finds a build for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from edgec.base.errors import ConfigError

_BYTES = re.compile(r"([0-9]{1,10})([KkMm]?)")
_NUMBER = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)()")
_PATTERNS = {"flash": _BYTES, "ram": _BYTES, "ms": _NUMBER, "drop": _NUMBER, "db": _NUMBER}
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20}
_LIKE = "like flash=64K,ram=32K,ms=20,drop=0.5"


@dataclass(frozen=True, slots=True)
class FitLimits:
    """Limits of a build that is searched for; None: no limit.

    Attributes:
        flash_bytes: image of the firmware.
        ram_bytes: variables, arena and reserved stack.
        time_ms: one inference at the board's clock, as `edgec profile` finds it.
        drop: percentage points of decisions that may differ from the float network's.
        target_db: least signal to noise ratio of the outputs, in dB.
    """

    flash_bytes: int | None = None
    ram_bytes: int | None = None
    time_ms: float | None = None
    drop: float | None = None
    target_db: float | None = None

    @classmethod
    def parse(cls, text: str, where: str = "--fit") -> FitLimits:
        """Limits like ``flash=64K,ram=32K,ms=20,drop=0.5``; K and M are 1024 and 1024 * 1024 bytes.

        Args:
            text: the limits.
            where: the option that has them, for messages.

        Raises:
            ConfigError: not of that form, a name twice, or a number that nothing can keep.
        """
        found: dict[str, float] = {}
        for part in text.split(","):
            key, _, value = part.strip().partition("=")
            if key not in _PATTERNS:
                names = ", ".join(_PATTERNS)
                raise ConfigError(
                    f"{key[:40]!r} is no limit; there are {names}", where=where, hint=_LIKE
                )
            number = _PATTERNS[key].fullmatch(value)
            if number is None or key in found:
                raise ConfigError(f"cannot read {part[:40]!r}", where=where, hint=_LIKE)
            found[key] = float(number[1]) * _UNITS[number[2].upper()]
            _check(key, found[key], part, where)
        flash, ram = (None if key not in found else int(found[key]) for key in ("flash", "ram"))
        return cls(flash, ram, found.get("ms"), found.get("drop"), found.get("db"))


def _check(key: str, value: float, part: str, where: str) -> None:
    most = {"drop": 100.0, "db": 90.0}.get(key)
    if (value <= 0 and key != "drop") or (most is not None and value > most):
        what = "more than 0" if most is None else f"up to {most:g}"
        raise ConfigError(f"{part[:40]!r} cannot be kept", where=where, hint=f"give {what}")
