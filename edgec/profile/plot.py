"""Axes and frames that the pages' plots share: positions in the SVG's own coordinates."""

from __future__ import annotations

import math
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
