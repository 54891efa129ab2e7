"""The page of `edgec evaluate --bits --html`: accuracy over cycles, one point a width."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.output_file import write_whole
from edgec.codegen.env import html_environment, values
from edgec.profile.plot import BOTTOM, LEFT, RIGHT, TOP, WIDTH, Linear, Plot, Tick, framed
from edgec.profile.widths import TradeOff, WidthPoint

_HEIGHT = 420
_STEPS = 5
_LEAST_SPAN = 0.02
"""Accuracies that are closer than this do not fill the whole height."""


@dataclass(frozen=True, slots=True)
class WidthMark:
    """A width in the plot: its place, its label and what a pointer shows."""

    x: float
    y: float
    label: str
    title: str

    @property
    def label_y(self) -> float:
        """Base line of the label."""
        return self.y + 22


@dataclass(frozen=True, slots=True)
class WidthChart:
    """Accuracy over cycles; over bits where cycles are not known.

    Attributes:
        marks: in order of x.
        line: the points of a polyline through them.
        float_y: height of the float model's accuracy.
        x_name: name of the horizontal axis.
    """

    plot: Plot
    marks: tuple[WidthMark, ...]
    line: str
    float_y: float
    x_name: str


@dataclass(frozen=True, slots=True)
class WidthsPage:
    """Everything that the template shows."""

    template: ClassVar[str] = "profile/widths.html.j2"

    found: TradeOff
    chart: WidthChart


def write_widths_html(found: TradeOff, path: Path) -> None:
    """Write the page; an earlier file is replaced as a whole or not at all.

    Raises:
        ConfigError: the file cannot be written.
    """
    write_whole(path, render_widths_html(found).encode("utf-8", "replace"))


def render_widths_html(found: TradeOff) -> str:
    """The page of a trade-off."""
    page = WidthsPage(found, width_chart(found))
    return html_environment().get_template(page.template).render(values(page))


def width_chart(found: TradeOff) -> WidthChart:
    """The plot of a trade-off, all positions final."""
    timed = all(point.cycles is not None for point in found.points)
    places = [float(point.cycles or 0) if timed else float(point.bits) for point in found.points]
    low = min(0.0, *places) if timed else 0.0
    x = Linear(low, 1.08 * max(*places, 1.0), LEFT, WIDTH - RIGHT)
    y = _accuracy_axis([point.accuracy for point in found.points] + [found.float_accuracy])
    marks = [
        WidthMark(x.at(place), y.at(point.accuracy), _label(point), _title(point))
        for place, point in zip(places, found.points, strict=True)
    ]
    marks.sort(key=lambda mark: mark.x)
    return WidthChart(
        plot=framed(_HEIGHT, _x_ticks(x, timed), _y_ticks(y)),
        marks=tuple(marks),
        line=" ".join(f"{mark.x:.1f},{mark.y:.1f}" for mark in marks),
        float_y=y.at(found.float_accuracy),
        x_name="cycles of one inference" if timed else "bits of an activation",
    )


def _label(point: WidthPoint) -> str:
    return f"{point.bits} bit" if point.bits == 1 else f"{point.bits} bits"


def _title(point: WidthPoint) -> str:
    time = "" if point.time_ms is None else f", {point.cycles:,} cycles, {point.time_ms:.2f} ms"
    return f"{_label(point)}: accuracy {point.accuracy:.2%}, agreement {point.agreement:.2%}{time}"


def _accuracy_axis(values: Sequence[float]) -> Linear:
    low, high = min(values), max(values)
    room = max(high - low, _LEAST_SPAN) * 0.12
    return Linear(max(low - room, 0.0), min(high + room, 1.0), _HEIGHT - BOTTOM, TOP)


def _x_ticks(axis: Linear, timed: bool) -> tuple[Tick, ...]:
    step = _round_step(axis.high / _STEPS) if timed else 1.0
    count = math.floor(axis.high / step)
    return tuple(Tick(axis.at(i * step), f"{i * step:,.0f}") for i in range(count + 1))


def _y_ticks(axis: Linear) -> tuple[Tick, ...]:
    step = _round_step((axis.high - axis.low) / _STEPS)
    first = math.ceil(axis.low / step)
    values = [i * step for i in range(first, math.floor(axis.high / step) + 1)]
    return tuple(Tick(axis.at(value), f"{100 * value:g} %") for value in values)


def _round_step(value: float) -> float:
    """The least 1, 2 or 5 times a power of ten that is at least `value`."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value)
