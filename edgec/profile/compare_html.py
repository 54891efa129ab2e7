"""The page of `edgec compare --html`: builds side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.base.output_file import write_whole
from edgec.codegen.env import html_environment, values
from edgec.profile.compare import BuildFigures
from edgec.profile.compile_rows import Cell
from edgec.profile.plot import (
    HEIGHT,
    Axes,
    Linear,
    Plot,
    accuracy_axis,
    framed,
)
from edgec.profile.points import Point, labelled, with_points
from edgec.profile.ticks import counted, levels, percent
from edgec.report.console import shortened

_RADIUS = 7.0
_LABEL_CHARACTERS = 24
_NOTHING = Cell("", 0.0)


@dataclass(frozen=True, slots=True)
class BuildRow:
    """A build.

    Attributes:
        folder: it, as given.
        model, board: names, untrusted.
        cells: its figures, each bar relative to the largest of its column.
        notes: why something is not known.
    """

    folder: str
    model: str
    board: str
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ComparePage:
    """Everything that the template shows.

    Attributes:
        names: heads of the columns of figures.
        rows: the builds, in order.
        charts: each pair of figures that at least two builds have.
    """

    template: ClassVar[str] = "profile/compare.html.j2"

    names: tuple[str, ...]
    rows: tuple[BuildRow, ...]
    charts: tuple[Plot, ...]


def write_compare_html(figures: Sequence[BuildFigures], path: Path) -> None:
    """Write the page; an earlier file is replaced as a whole or not at all.

    Raises:
        ConfigError: the file cannot be written.
    """
    write_whole(path, render_compare_html(figures).encode("utf-8", "replace"))


def render_compare_html(figures: Sequence[BuildFigures]) -> str:
    """The page of several builds."""
    columns = _columns(figures)
    rows = tuple(
        BuildRow(
            str(each.folder),
            each.model,
            each.board,
            tuple(cells[number] for _, cells in columns),
            each.notes,
        )
        for number, each in enumerate(figures)
    )
    charts = (_flash_chart(figures), _accuracy_chart(figures))
    page = ComparePage(
        tuple(name for name, _ in columns), rows, tuple(each for each in charts if each)
    )
    return html_environment().get_template(page.template).render(values(page))


def _columns(figures: Sequence[BuildFigures]) -> list[tuple[str, list[Cell]]]:
    """Figures that at least one build has."""
    found = [
        ("flash, bytes", [_cell(each.flash_bytes, ",") for each in figures]),
        ("RAM, bytes", [_cell(each.ram_bytes, ",") for each in figures]),
        ("ms", [_cell(each.time_ms, ",.3f") for each in figures]),
        ("accuracy", [_cell(each.accuracy, ".2%") for each in figures]),
        ("samples", [_cell(each.accuracy_samples or None, ",") for each in figures]),
        ("cycles", [_cell(each.cycles, ",") for each in figures]),
        ("instructions", [_cell(each.instructions, ",") for each in figures]),
        ("arena, bytes", [_cell(each.arena_bytes, ",") for each in figures]),
        ("state, bytes", [_cell(each.state_bytes or None, ",") for each in figures]),
    ]
    known = [(name, cells) for name, cells in found if any(cell.text for cell in cells)]
    return [(name, _relative(cells)) for name, cells in known]


def _cell(value: float | None, form: str) -> Cell:
    return _NOTHING if value is None else Cell(format(value, form), float(value))


def _relative(cells: Sequence[Cell]) -> list[Cell]:
    """Cells with bars up to 100 from cells with values in their place."""
    most = max(cell.width for cell in cells) or 1.0
    return [Cell(cell.text, 100 * cell.width / most) for cell in cells]


def _flash_chart(figures: Sequence[BuildFigures]) -> Plot | None:
    known = [(each, each.time_ms, each.flash_bytes) for each in figures]
    places = [(each, ms, float(flash)) for each, ms, flash in known if ms and flash]
    if len(places) < 2:
        return None
    x = Linear(0.0, 1.08 * max(ms for _, ms, _ in places))
    y = Linear(0.0, 1.1 * max(flash for _, _, flash in places), 1.0, 0.0)
    sizes = levels(y, counted, whole=True)
    axes = Axes(levels(x), sizes, "milliseconds of a run", "bytes of flash")
    points = [_point(each, x.at(ms), y.at(flash)) for each, ms, flash in places]
    plot = framed("flash", "bytes of flash over time of a run", axes)
    return with_points(plot, (), labelled(points, HEIGHT))


def _accuracy_chart(figures: Sequence[BuildFigures]) -> Plot | None:
    known = [(each, each.time_ms, each.accuracy) for each in figures]
    places = [(each, ms, right) for each, ms, right in known if ms and right is not None]
    if len(places) < 2:
        return None
    x = Linear(0.0, 1.08 * max(ms for _, ms, _ in places))
    y = accuracy_axis([right for _, _, right in places])
    axes = Axes(levels(x), levels(y, percent), "milliseconds of a run", "accuracy")
    points = [_point(each, x.at(ms), y.at(right)) for each, ms, right in places]
    plot = framed("accuracy", "accuracy over time of a run", axes)
    return with_points(plot, (), labelled(points, HEIGHT))


def _point(each: BuildFigures, x: float, y: float) -> Point:
    parts = [f"{each.folder}: {each.time_ms:,.3f} ms"]
    if each.flash_bytes is not None:
        parts.append(f"{each.flash_bytes:,} bytes of flash")
    if each.accuracy is not None:
        parts.append(f"accuracy {each.accuracy:.2%} on {each.accuracy_samples:,} samples")
    return Point(x, y, _RADIUS, ", ".join(parts), shortened(each.folder.name, _LABEL_CHARACTERS))
