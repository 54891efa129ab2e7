"""Changes between the figures of two builds, compared with a tolerance."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Any

from edgec.base.errors import ConfigError
from edgec.base.options import parse_bytes
from edgec.report.figures import KINDS, FigureKind, Figures

DEFAULT_TOLERANCE = "flash=1%,ram=1%,cycles=1%,accuracy=0.5,db=0.5"
_SHARE = re.compile(r"([0-9]{1,4}(?:\.[0-9]{1,4})?)%")
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,6})?")
_SMALLEST = 1e-9
"""Differences of shares and decibels below this come from the rounding of binary numbers."""


@dataclass(frozen=True, slots=True)
class Bound:
    """Largest change for the worse of a figure.

    Attributes:
        text: as the user wrote it.
        share: part of the committed value, 0.01 for 1 %; 0 where `amount` holds.
        amount: in the figure's own unit: bytes, cycles, percentage points, dB.
    """

    text: str
    share: float = 0.0
    amount: float = 0.0

    def allowed(self, committed: float) -> float:
        """The largest change for the worse, in the unit of `amount`."""
        return abs(committed) * self.share + self.amount


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Largest change for the worse of each kind of figure; see `DEFAULT_TOLERANCE`."""

    flash: Bound
    ram: Bound
    cycles: Bound
    accuracy: Bound
    db: Bound

    @classmethod
    def parse(cls, text: str | None) -> Tolerance:
        """A tolerance like ``flash=1%,ram=256,accuracy=0.5``; the others are the defaults.

        Raises:
            ConfigError: not of that form.
        """
        bounds = _bounds(DEFAULT_TOLERANCE)
        return cls(**{**bounds, **(_bounds(text) if text is not None else {})})

    def of(self, kind: FigureKind) -> Bound:
        """The bound that holds for a kind of figure."""
        bound: Bound = getattr(self, kind.tolerance)
        return bound


def _bounds(text: str) -> dict[str, Bound]:
    names = [field.name for field in dataclasses.fields(Tolerance)]
    found: dict[str, Bound] = {}
    for part in text.split(","):
        key, _, value = part.strip().partition("=")
        if key not in names or key in found:
            raise ConfigError(
                f"cannot read {part[:40]!r}", where="--tolerance", hint=f"like {DEFAULT_TOLERANCE}"
            )
        found[key] = _bound(key, value)
    return found


def _bound(key: str, value: str) -> Bound:
    share = _SHARE.fullmatch(value)
    if key in ("accuracy", "db"):
        # A share of a share, or of a logarithm, says little.
        if not _NUMBER.fullmatch(value):
            unit = "percentage points" if key == "accuracy" else "dB"
            hint = f"give {unit}: {key}=0.5"
            raise ConfigError(f"cannot read {value[:40]!r}", where="--tolerance", hint=hint)
        return Bound(f"{value} points" if key == "accuracy" else f"{value} dB", amount=float(value))
    if share is not None:
        return Bound(value, share=float(share[1]) / 100)
    return Bound(value, amount=parse_bytes(value, "--tolerance"))


@dataclass(frozen=True, slots=True)
class FigureChange:
    """A figure of the committed build and of a new one.

    Attributes:
        kind: how it is shown.
        committed, found: its values; None where it is not known.
        allowed: the tolerance, as text.
        state: "same", "within", "better", "worse", "new" (not committed), or "missing" (not
            measured any more).
    """

    kind: FigureKind
    committed: float | None
    found: float | None
    allowed: str
    state: str

    @property
    def fails(self) -> bool:
        """Whether it is a change that a check refuses."""
        return self.state in ("worse", "missing")

    @property
    def difference(self) -> str:
        """Difference of the two figures, as text; empty where one value is not known."""
        if self.committed is None or self.found is None:
            return ""
        more = self.found - self.committed
        if self.kind.unit == "%":
            return f"{more * 100:+.2f} points"
        if self.kind.unit == "dB":
            return f"{more:+.1f} dB"
        share = f" ({more / self.committed:+.1%})" if self.committed else ""
        return f"{more:+,.0f}{share}" if more else "0"

    @property
    def texts(self) -> tuple[str, ...]:
        """Name, committed value, new value, difference, tolerance and state, for people."""
        values = self.kind.text(self.committed), self.kind.text(self.found)
        return (self.kind.title, *values, self.difference, self.allowed, self.state)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "name": self.kind.name,
            "committed": self.committed,
            "found": self.found,
            "allowed": self.allowed,
            "state": self.state,
        }


def changes(committed: Figures, found: Figures, tolerance: Tolerance) -> tuple[FigureChange, ...]:
    """The figures that one of two builds has, in order, and what became of them."""
    pairs = [(kind, getattr(committed, kind.name), getattr(found, kind.name)) for kind in KINDS]
    return tuple(
        _change(kind, before, after, tolerance.of(kind))
        for kind, before, after in pairs
        if before is not None or after is not None
    )


def _change(
    kind: FigureKind, before: float | None, after: float | None, bound: Bound
) -> FigureChange:
    state = "missing" if after is None else "new"
    if before is not None and after is not None:
        state = _state(kind, before, after, bound)
    return FigureChange(kind, before, after, bound.text, state)


def _state(kind: FigureKind, before: float, after: float, bound: Bound) -> str:
    points = 100 if kind.unit == "%" else 1
    worse = (before - after if kind.more_is_better else after - before) * points
    if abs(worse) <= _SMALLEST:
        return "same"
    if worse < 0:
        return "better"
    return "within" if worse <= bound.allowed(before) + _SMALLEST else "worse"
