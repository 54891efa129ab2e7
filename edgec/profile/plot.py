"""Axes and frames that the pages' plots share: positions in the SVG's own coordinates.

Some charts show accuracy over something that should be small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 960
LEFT, RIGHT, TOP, BOTTOM = 76, 16, 12, 44
"""Room around a plot for ticks and names of axes."""


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis: its position and its text."""

    at: float
    text: str

    @property
    def base_line(self) -> float:
        """Base line of the text beside a mark on a vertical axis."""
        return self.at + 4


@dataclass(frozen=True, slots=True)
class Plot:
    """Frame and axes of a plot."""

    left: float
    right: float
    top: float
    bottom: float
    height: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]

    @property
    def frame_width(self) -> float:
        """Width of the frame."""
        return self.right - self.left

    @property
    def frame_height(self) -> float:
        """Height of the frame."""
        return self.bottom - self.top

    @property
    def middle_x(self) -> float:
        """Middle of the frame."""
        return (self.left + self.right) / 2

    @property
    def middle_y(self) -> float:
        """Middle of the frame."""
        return (self.top + self.bottom) / 2

    @property
    def x_tick_end(self) -> float:
        """Lower end of the marks on the horizontal axis."""
        return self.bottom + 5

    @property
    def x_text_y(self) -> float:
        """Base line of the texts below the horizontal axis."""
        return self.bottom + 18

    @property
    def x_name_y(self) -> float:
        """Base line of the name of the horizontal axis."""
        return self.height - 6

    @property
    def y_text_x(self) -> float:
        """Right end of the texts beside the vertical axis."""
        return self.left - 8


@dataclass(frozen=True, slots=True)
class Linear:
    """Maps [low, high] to [start, end]."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The position of `value`."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Log:
    """Maps [low, high] to [start, end] by the logarithm; both ends positive."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The position of `value`."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)


def framed(height: float, x_ticks: tuple[Tick, ...], y_ticks: tuple[Tick, ...]) -> Plot:
    """A plot of the page's width and this height."""
    return Plot(
        left=LEFT,
        right=WIDTH - RIGHT,
        top=TOP,
        bottom=height - BOTTOM,
        height=height,
        x_ticks=x_ticks,
        y_ticks=y_ticks,
    )


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
