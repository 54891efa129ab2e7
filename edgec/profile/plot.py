"""Axes and frames that the pages' plots share.

Positions are shares of the frame, 0 to 1, from its left and from its top: a plot is as wide as its
reader's window, and its texts keep their size.  Some charts show accuracy over something that
should be small.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

HEIGHT = 380
"""Height of a frame in pixels."""
CHARACTER, LINE = 7.2, 16.0
"""Room in pixels for a character of a plot's texts, and for a line: those of wide fonts."""
NARROW, WIDE = (230.0, 600.0), (600.0, 1200.0)
"""Least and most pixels of a frame on a narrow and on a wide page; `_style.html.j2` turns there."""
ZOOMS = (1, 2, 4, 8)
"""Enlargements of a plot; each has ticks of its own."""
_GRID = 1000.0
"""Units of the drawings of curves in each direction."""
_TICK_GAP = 10.0


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark on an axis: its position, its text, and whether a narrow page has room for it."""

    at: float
    text: str
    narrow: bool = True


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through a frame: its points for a polyline, and its style, "curve" or "floor"."""

    points: str
    style: str = "curve"


@dataclass(frozen=True, slots=True)
class Label:
    """A text in a plot: classes of `_style.html.j2`, its place as CSS, and what it says."""

    style: str
    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A part of a plot that says something to a pointer, a finger, a keyboard, a screen reader.

    Attributes:
        style: classes of `_style.html.j2`.
        place: where it is, as CSS.
        title: what it says.
    """

    style: str
    place: str
    title: str


@dataclass(frozen=True, slots=True)
class Scale:
    """Texts of both axes at one enlargement.

    Attributes:
        zoom: the enlargement, one of `ZOOMS`.
        x, y: texts below the plot and beside it.
        rules: places of the lines across it, as CSS.
    """

    zoom: int
    x: tuple[Label, ...]
    y: tuple[Label, ...]
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot, all positions final.

    Attributes:
        name: a word for the plot, unlike all others in its page.
        words: what it shows, for screen readers.
        height: pixels of the frame from top to bottom.
        x_name, y_name: names of the axes.
        scales: texts of both axes, for each of `ZOOMS`.
        curves: lines in it.
        marks: its parts.
        labels: texts in them or beside them.
    """

    name: str
    words: str
    height: float
    x_name: str
    y_name: str
    scales: tuple[Scale, ...]
    curves: tuple[Curve, ...] = ()
    marks: tuple[Mark, ...] = ()
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True, slots=True)
class Axes:
    """Ticks of the axes of a plot for each of `ZOOMS`, and their names."""

    x_ticks: Sequence[Sequence[Tick]]
    y_ticks: Sequence[Sequence[Tick]]
    x_name: str
    y_name: str


@dataclass(frozen=True, slots=True)
class Linear:
    """Maps [low, high] to [start, end]."""

    low: float
    high: float
    start: float = 0.0
    end: float = 1.0

    def at(self, value: float) -> float:
        """The position of `value`."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)


@dataclass(frozen=True, slots=True)
class Log:
    """Maps [low, high] to [start, end] by the logarithm; both ends positive."""

    low: float
    high: float
    start: float = 0.0
    end: float = 1.0

    def at(self, value: float) -> float:
        """The position of `value`."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)


def framed(name: str, words: str, axes: Axes, height: float = HEIGHT) -> Plot:
    """A plot with axes and nothing else."""
    return Plot(
        name=name,
        words=words,
        height=height,
        x_name=axes.x_name,
        y_name=axes.y_name,
        scales=tuple(map(_scale, ZOOMS, axes.x_ticks, axes.y_ticks)),
    )


def _scale(zoom: int, x_ticks: Sequence[Tick], y_ticks: Sequence[Tick]) -> Scale:
    return Scale(
        zoom=zoom,
        x=x_labels(spaced(x_ticks, zoom)),
        y=tuple(Label("tick y", css(top=tick.at), tick.text) for tick in y_ticks),
        rules=tuple(css(top=tick.at) for tick in y_ticks),
    )


def x_labels(ticks: Sequence[Tick]) -> tuple[Label, ...]:
    """Texts of a horizontal axis."""
    return tuple(
        Label("tick x" if tick.narrow else "tick x wide", css(left=tick.at), tick.text)
        for tick in ticks
    )


def css(**shares: float) -> str:
    """Declarations of CSS, each with a share of the frame."""
    return "; ".join(f"{name}: {100 * share:.2f}%" for name, share in shares.items())


def curve(points: Iterable[tuple[float, float]], style: str = "curve") -> Curve:
    """A line through points, (x, y) in shares of the frame."""
    return Curve(" ".join(f"{_GRID * x:.1f},{_GRID * y:.1f}" for x, y in points), style)


def level(y: float) -> Curve:
    """A line from left to right at a height."""
    return curve([(0.0, y), (1.0, y)], "floor")


def spaced(ticks: Sequence[Tick], zoom: int = 1) -> tuple[Tick, ...]:
    """Ticks of a horizontal axis whose texts are apart: every n-th, fewer of them on narrow pages.

    Args:
        ticks: from left to right.
        zoom: enlargement of the plot.
    """
    wide = ticks[:: _stride(ticks, zoom * WIDE[0])]
    stride = _stride(wide, zoom * NARROW[0])
    return tuple(replace(tick, narrow=i % stride == 0) for i, tick in enumerate(wide))


def _stride(ticks: Sequence[Tick], width: float) -> int:
    """The least n with which every n-th text has room beside the next in a frame of this width."""
    for stride in range(1, len(ticks)):
        kept = ticks[::stride]
        pairs = itertools.pairwise(kept)
        if all(width * (b.at - a.at) >= _half(a) + _half(b) + _TICK_GAP for a, b in pairs):
            return stride
    return max(len(ticks), 1)


def _half(tick: Tick) -> float:
    return CHARACTER * len(tick.text) / 2


_LEAST_SPAN = 0.02
"""Accuracies that are closer than this do not fill the whole height."""


def accuracy_axis(values: Sequence[float]) -> Linear:
    """The vertical axis of shares of samples, with some room on both sides."""
    low, high = min(values), max(values)
    room = max(high - low, _LEAST_SPAN) * 0.12
    return Linear(max(low - room, 0.0), min(high + room, 1.0), 1.0, 0.0)
