"""Points of a search, the front among them, and the choice of one point."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from edgec.base.errors import BudgetError, ConfigError
from edgec.base.options import OptionValue
from edgec.explore.figures import ENERGY, KNOWN, Figures
from edgec.explore.space import Setting
from edgec.explore.trial import Measured


@dataclass(frozen=True, slots=True)
class Point:
    """A finished trial.

    Attributes:
        number: number of the trial.
        setting: a value for each knob.
        figures: those of the build; None: it was refused.
        refused: why it was refused; "" where it was not.
        found: options that limits of the trial's own led to, by the keys of `edgec.toml`.
    """

    number: int
    setting: Setting
    figures: Measured | None
    refused: str = ""
    found: Mapping[str, OptionValue] = field(default_factory=dict)

    def value(self, name: str) -> float:
        """A figure; infinite where there is no build, or nobody knows it of the board."""
        found = None if self.figures is None else self.figures[KNOWN[name].key]
        return math.inf if found is None else found

    @property
    def values(self) -> tuple[float, ...]:
        """Figures in the order of `Figures.all`, infinite where nobody knows one.

        On one board energy says what time says; it tells boards apart that have figures of it.
        """
        found = () if self.figures is None else self.figures.values()
        return tuple(math.inf if each is None else each for each in found)


def excess(point: Point, bounds: Mapping[str, float]) -> float:
    """By how much a point is over its limits, as a share of them, all added; 0: within."""
    over = [point.value(name) / max(most, 1e-9) - 1.0 for name, most in bounds.items()]
    if point.figures is None:
        return math.inf
    return sum(max(each, 0.0) for each in over)


def front_of(points: Sequence[Point], bounds: Mapping[str, float]) -> tuple[Point, ...]:
    """Points within the limits that no other one beats: not worse in all figures, better in one.

    Of points with equal figures the first one is kept.

    Args:
        points: finished trials.
        bounds: limits by figure.

    Returns:
        The front, fewest lost points of accuracy first.
    """
    inside = [point for point in points if excess(point, bounds) == 0.0]
    inside.sort(key=lambda point: (point.values, point.number))
    front: list[Point] = []
    for point in inside:  # in this order nothing later beats what is kept
        if not any(_not_worse(kept.values, point.values) for kept in front):
            front.append(point)
    return tuple(front)


def _not_worse(one: Sequence[float], other: Sequence[float]) -> bool:
    return all(a <= b for a, b in zip(one, other, strict=True))


@dataclass(frozen=True, slots=True)
class Choice:
    """A rule that picks one point of the front.

    Attributes:
        bounds: most of some figures.
        least: the figure that is to be least.
    """

    bounds: Mapping[str, float]
    least: str

    @classmethod
    def parse(cls, text: str, figures: Figures) -> Choice:
        """A rule like ``drop<=0.5 smallest flash``; conditions may be missing.

        Args:
            text: the rule.
            figures: those of the boards of the search.

        Raises:
            ConfigError: not of that form, or a figure that these boards do not have.
        """
        where, names = "--select", figures.names
        like = f'like "drop<=0.5 smallest {figures.objectives[2].name}"'
        words = text.split()
        conditions, (word, least) = (words[:-2], words[-2:]) if len(words) > 1 else ([], ("", ""))
        bounds: dict[str, float] = {}
        for condition in conditions:
            name, _, number = condition.partition("<=")
            figures.check_here(name, where)
            most = KNOWN[name].number(number) if name in names else None
            if most is None:
                raise ConfigError(f"cannot read {condition[:40]!r}", where=where, hint=like)
            bounds[name] = most
        figures.check_here(least, where)
        if word not in ("smallest", "least") or least not in names:
            hint = f"{like}; figures are {', '.join(names)}"
            raise ConfigError(f"cannot read {text[:60]!r}", where=where, hint=hint)
        return cls(bounds, least)

    def of(self, front: Sequence[Point]) -> Point:
        """The point of a front that the rule picks.

        Raises:
            BudgetError: no point is within the rule's bounds.
            ConfigError: it asks for energy, of which the boards' files have no figures.
        """
        if ENERGY.name in (*self.bounds, self.least) and all(
            math.isinf(point.value(ENERGY.name)) for point in front
        ):
            what = "the board's file has no figure of energy"
            raise ConfigError(what, where="--select", hint="choose by ms, which energy follows")
        inside = [point for point in front if excess(point, self.bounds) == 0.0]
        if not inside:
            near = min(front, key=lambda point: excess(point, self.bounds))
            found = _said({name: near.value(name) for name in self.bounds}, "=")
            raise BudgetError(
                f"no point of the front has {_said(self.bounds)}; the nearest one, of trial "
                f"{near.number}, has {found}",
                where="--select",
                hint="allow more, or run more --trials",
            )
        return min(inside, key=lambda point: (point.value(self.least), point.values))


def check_any(points: Sequence[Point], front: Sequence[Point], bounds: Mapping[str, float]) -> None:
    """Refuse a search without a build, or without one within the limits.

    Raises:
        BudgetError: no build is within the limits; says which one comes nearest.
        ConfigError: nothing could be built.
    """
    if front:
        return
    built = [point for point in points if point.figures is not None]
    if not built:
        reason = points[0].refused if points else "no trial was finished"
        raise ConfigError(f"none of {len(points)} trials could be built: {reason}", where="explore")
    near = min(built, key=lambda point: excess(point, bounds))
    found = {name: near.value(name) for name in bounds}
    raise BudgetError(
        f"none of {len(points)} trials is within {_said(bounds)}; the nearest one, trial "
        f"{near.number}, has {_said(found, '=')}",
        where="--fit",
        hint="allow more, or run more --trials",
    )


def _said(bounds: Mapping[str, float], sign: str = "<=") -> str:
    return ", ".join(f"{name}{sign}{value:.10g}" for name, value in bounds.items())
