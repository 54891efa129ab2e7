"""The page of `edgec evaluate --bits --html`: accuracy over cycles, one point a width."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.output_file import write_whole
from edgec.codegen.env import html_environment, values
from edgec.profile.plot import (
    HEIGHT,
    LEFT,
    RIGHT,
    WIDTH,
    Linear,
    Plot,
    accuracy_axis,
    accuracy_ticks,
    count_ticks,
    framed,
)
from edgec.profile.widths import TradeOff, WidthPoint


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
    y = accuracy_axis([point.accuracy for point in found.points] + [found.float_accuracy])
    marks = [
        WidthMark(x.at(place), y.at(point.accuracy), _label(point), _title(point))
        for place, point in zip(places, found.points, strict=True)
    ]
    marks.sort(key=lambda mark: mark.x)
    return WidthChart(
        plot=framed(HEIGHT, count_ticks(x, None if timed else 1.0), accuracy_ticks(y)),
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
