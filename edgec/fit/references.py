"""Builds of `compile --fit` that prices are held against."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from edgec.base.errors import EdgecError, MemoryPlanError
from edgec.base.options import Optimize, Placement, Rows
from edgec.fit.choice import Built, Point, Setting, needed
from edgec.fit.prices.pricing import Pricing
from edgec.fit.program.problem import Bounds

_MOST_MIXED = 2
_UNTOLD = 0.1
"""Builds of mixed codes, while this share of cycles is of functions that no build had."""


def references(
    settings: Sequence[Setting],
    pricing: Pricing,
    bounds: Bounds,
    built: Callable[[Point], Built],
) -> tuple[Setting, ...]:
    """Build int8 codes for each way of code, int16 everywhere, and mixed codes that tell more.

    Args:
        settings: those that could help, the usual one first.
        pricing: the prices, which learn from each build.
        bounds: limits.
        built: builds a choice, once.

    Returns:
        The settings that a limit may need.

    Raises:
        EdgecError: any of its kinds.
    """
    settings = _pruned(settings, pricing.tensors, bounds, built)
    usual = settings[0]
    seen: dict[tuple[Optimize, Placement | None], Setting] = {}
    for setting in settings:
        if setting.placement is usual.placement or setting.optimize is usual.optimize:
            seen.setdefault((setting.optimize, setting.placement), setting)
    points = [Point(setting, ()) for setting in seen.values()]
    if pricing.tensors:
        points.append(Point(usual, pricing.tensors))
    count, last = 0, None
    for point in points:
        try:
            built(point)
            count += 1
        except MemoryPlanError as error:
            last = error
    if not count and last is not None:
        _in_turns(settings, built, last)
    for _ in range(_MOST_MIXED):
        told = pricing.telling(usual)
        if told is None or told[1] < _UNTOLD:
            break
        try:
            built(Point(usual, tuple(name for name in pricing.tensors if name in told[0])))
        except MemoryPlanError:
            break
    return settings


def _pruned(
    settings: Sequence[Setting],
    tensors: tuple[str, ...],
    bounds: Bounds,
    built: Callable[[Point], Built],
) -> tuple[Setting, ...]:
    """Settings that a limit may need, by builds of the usual one with int8 and with int16 codes."""
    ends = dict.fromkeys((Point(settings[0], ()), Point(settings[0], tensors)))
    try:
        found = [built(point).figures for point in ends]
    except MemoryPlanError:
        return tuple(settings)
    return needed(settings, found, bounds)


def _in_turns(
    settings: Sequence[Setting], built: Callable[[Point], Built], last: EdgecError
) -> None:
    """Build int8 codes with layers in turns, where no layer as a whole has room."""
    rows = [each for each in settings if each.rows is Rows.ALWAYS]
    if not rows:
        raise last
    for setting in rows:
        built(Point(setting, ()))
