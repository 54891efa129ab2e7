"""Marks of axes at round numbers, and how they are written."""

from __future__ import annotations

import math
from collections.abc import Callable

from edgec.profile.plot import ZOOMS, Linear, Log, Tick

_STEPS = 5
"""Steps of an axis, about."""
_DIGITS = (1, 2, 5, 10)
_ALL_DIGITS = (*range(1, 10), 10)
_DECADE = 8.0
"""A logarithmic axis from a number to this many times it has marks at 1, 2 and 5 times powers of
ten; a shorter one has too few of them, and looks linear anyway."""
_NEARLY = 1e-9


_Write = Callable[[float], str]
_WRITE: _Write = "{:.8g}".format


def levels(
    axis: Linear | Log, write: _Write = _WRITE, *, whole: bool = False, step: float | None = None
) -> tuple[tuple[Tick, ...], ...]:
    """The marks of an axis for each of `ZOOMS`: the larger the plot, the more.

    Args:
        axis: it.
        write: the text of a number.
        whole: whole numbers alone.
        step: see `ticks`; of the plot as it is first shown.
    """
    return tuple(ticks(axis, write, whole=whole, step=step, zoom=zoom) for zoom in ZOOMS)


def ticks(
    axis: Linear | Log,
    write: _Write = _WRITE,
    *,
    whole: bool = False,
    step: float | None = None,
    zoom: int = 1,
) -> tuple[Tick, ...]:
    """Marks at the round numbers of an axis, ascending.

    Args:
        axis: it.
        write: the text of a number.
        whole: whole numbers alone.
        step: marks are at its multiples; None: of a round number that gives some five of them.
        zoom: enlargement of the plot, which has room for as many times more.
    """
    if isinstance(axis, Log) and axis.high >= _DECADE * axis.low:
        # A line of text fits between 9 and 10 where a decade is as high as the plot at first is.
        has_room = zoom > max(1.0, math.log10(axis.high / axis.low))
        numbers = _decades(axis.low, axis.high, _ALL_DIGITS if has_room else _DIGITS)
    else:
        by = step / zoom if step else round_step((axis.high - axis.low) / (_STEPS * zoom))
        by = max(by, 1.0) if whole else by
        first, last = math.ceil(axis.low / by - _NEARLY), math.floor(axis.high / by + _NEARLY)
        numbers = [number * by for number in range(first, last + 1)]
    return tuple(Tick(axis.at(number), write(number)) for number in numbers)


def counted(number: float) -> str:
    """A count, its thousands apart."""
    return f"{number:,.0f}"


def percent(share: float) -> str:
    """A share of 1 as percent."""
    return f"{100 * share:.10g} %"


def round_step(value: float) -> float:
    """The least 1, 2 or 5 times a power of ten that is at least `value`, which is positive."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(digit * power for digit in _DIGITS if digit * power >= value)


def _decades(low: float, high: float, digits: tuple[int, ...]) -> list[float]:
    """Digits, of which the last is 10, times powers of ten inside the range."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    numbers = [digit * 10.0**power for power in powers for digit in digits[:-1]]
    return [number for number in numbers if low <= number <= high]
