"""The page of `edgec evaluate --bits --html`: accuracy over cycles, one point a width."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.output_file import write_whole
from edgec.codegen.env import html_environment, values
from edgec.profile.plot import (
    HEIGHT,
    Axes,
    Linear,
    Plot,
    accuracy_axis,
    curve,
    framed,
    level,
)
from edgec.profile.points import Point, labelled, with_points
from edgec.profile.ticks import counted, levels, percent
from edgec.profile.widths import TradeOff, WidthPoint

_RADIUS = 6.0


@dataclass(frozen=True, slots=True)
class WidthsPage:
    """Everything that the template shows."""

    template: ClassVar[str] = "profile/widths.html.j2"

    found: TradeOff
    chart: Plot


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


def width_chart(found: TradeOff) -> Plot:
    """Accuracy over cycles of one inference; over bits where cycles are not known."""
    timed = all(point.cycles is not None for point in found.points)
    places = [float(point.cycles or 0) if timed else float(point.bits) for point in found.points]
    low = min(0.0, *places) if timed else 0.0
    x = Linear(low, 1.08 * max(*places, 1.0))
    y = accuracy_axis([point.accuracy for point in found.points] + [found.float_accuracy])
    marks = [
        Point(x.at(place), y.at(point.accuracy), _RADIUS, _title(point), _label(point))
        for place, point in zip(places, found.points, strict=True)
    ]
    marks.sort(key=lambda mark: mark.x)
    x_name = "cycles of one inference" if timed else "bits of an activation"
    across = levels(x, counted, whole=True, step=None if timed else 1.0)
    axes = Axes(across, levels(y, percent), x_name, "accuracy")
    lines = (level(y.at(found.float_accuracy)), curve((mark.x, mark.y) for mark in marks))
    plot = framed("widths", f"accuracy over {x_name}", axes)
    return with_points(plot, lines, labelled(marks, HEIGHT))


def _label(point: WidthPoint) -> str:
    return f"{point.bits} bit" if point.bits == 1 else f"{point.bits} bits"


def _title(point: WidthPoint) -> str:
    time = "" if point.time_ms is None else f", {point.cycles:,} cycles, {point.time_ms:.2f} ms"
    return f"{_label(point)}: accuracy {point.accuracy:.2%}, agreement {point.agreement:.2%}{time}"
