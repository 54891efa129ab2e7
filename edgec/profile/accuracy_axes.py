"""Axes of the charts that show accuracy over something that should be small."""

from __future__ import annotations

import math
from collections.abc import Sequence

from edgec.profile.plot import BOTTOM, TOP, Linear, Tick

HEIGHT = 420
_STEPS = 5
_LEAST_SPAN = 0.02
"""Accuracies that are closer than this do not fill the whole height."""


def accuracy_axis(values: Sequence[float]) -> Linear:
    """The vertical axis of shares of samples, with some room on both sides."""
    low, high = min(values), max(values)
    room = max(high - low, _LEAST_SPAN) * 0.12
    return Linear(max(low - room, 0.0), min(high + room, 1.0), HEIGHT - BOTTOM, TOP)


def accuracy_ticks(axis: Linear) -> tuple[Tick, ...]:
    """Marks at round percentages."""
    step = _round_step((axis.high - axis.low) / _STEPS)
    first = math.ceil(axis.low / step)
    values = [i * step for i in range(first, math.floor(axis.high / step) + 1)]
    return tuple(Tick(axis.at(value), f"{100 * value:g} %") for value in values)


def count_ticks(axis: Linear, step: float | None = None) -> tuple[Tick, ...]:
    """Marks at multiples of a step, from 0; None: of a round one."""
    step = _round_step(axis.high / _STEPS) if step is None else step
    count = math.floor(axis.high / step)
    return tuple(Tick(axis.at(i * step), f"{i * step:,.0f}") for i in range(count + 1))


def _round_step(value: float) -> float:
    """The least 1, 2 or 5 times a power of ten that is at least `value`."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value)
