"""The page of `edgec compress --max-drop --html`: accuracy over bytes, one point for some pools."""

from __future__ import annotations

from collections.abc import Iterator
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
from edgec.workflow.pool_search import NO_TEST, PoolCurve, PoolPoint

_CHOSEN, _TRIED = 9.0, 5.0
"""Radii of points."""


@dataclass(frozen=True, slots=True)
class PoolRow:
    """A row of the table.

    Attributes:
        name: sharing and size.
        cells: the figures, "" where there is none.
    """

    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PoolsPage:
    """Everything that the template shows.

    Attributes:
        lead: what was searched, where, and on what.
        rows: float, int8, and the points, the largest first.
        note: that the samples have chosen.
    """

    template: ClassVar[str] = "profile/pools.html.j2"

    curve: PoolCurve
    chart: Plot
    lead: str
    rows: tuple[PoolRow, ...]
    note: str = NO_TEST


def write_pools_html(curve: PoolCurve, path: Path) -> None:
    """Write the page; an earlier file is replaced as a whole or not at all.

    Raises:
        ConfigError: the file cannot be written.
    """
    write_whole(path, render_pools_html(curve).encode("utf-8", "replace"))


def render_pools_html(curve: PoolCurve) -> str:
    """The page of a search."""
    page = PoolsPage(curve, pool_chart(curve), _lead(curve), tuple(_rows(curve)))
    return html_environment().get_template(page.template).render(values(page))


def _lead(curve: PoolCurve) -> str:
    parts = [f"the smallest weight pools within {curve.max_drop:g} points of float"]
    if curve.board:
        parts.append(curve.board)
    return " · ".join([*parts, f"{curve.n:,} samples"])


def _rows(curve: PoolCurve) -> Iterator[PoolRow]:
    yield PoolRow("float", ("", "", "", f"{curve.real:.2%}", "", ""))
    yield PoolRow("int8", ("", f"{curve.int8_bytes:,}", "", f"{curve.int8:.2%}", "", ""))
    for number, point in reversed(list(enumerate(curve.points))):
        cells = (
            str(point.pools),
            f"{point.stored_bytes:,}",
            f"{point.compression:.2f}x",
            f"{point.accuracy:.2%}",
            "" if point.cycles is None else f"{point.cycles:,}",
            "" if point.arena_bytes is None else f"{point.arena_bytes:,}",
        )
        yield PoolRow(_name(curve, number), cells)


def _name(curve: PoolCurve, number: int) -> str:
    return curve.points[number].name + (" (chosen)" if number == curve.chosen else "")


def pool_chart(searched: PoolCurve) -> Plot:
    """Accuracy over stored bytes."""
    x = Linear(0.0, 1.08 * max(point.stored_bytes for point in searched.points))
    y = accuracy_axis(
        [*(point.accuracy for point in searched.points), searched.real, searched.goal]
    )
    marks = [
        Point(
            x=x.at(point.stored_bytes),
            y=y.at(point.accuracy),
            radius=_CHOSEN if number == searched.chosen else _TRIED,
            title=_title(point),
            label=_name(searched, number),
        )
        for number, point in enumerate(searched.points)
    ]
    lines = (
        level(y.at(searched.real)),
        level(y.at(searched.goal)),
        curve((mark.x, mark.y) for mark in marks),
    )
    axes = Axes(levels(x, counted, whole=True), levels(y, percent), "stored bytes", "accuracy")
    plot = framed("pools", "accuracy over stored bytes", axes)
    return with_points(plot, lines, labelled(marks, HEIGHT))


def _title(point: PoolPoint) -> str:
    parts = [
        f"{point.name}: accuracy {point.accuracy:.2%}",
        f"{point.stored_bytes:,} bytes",
        f"{point.compression:.2f}x smaller",
    ]
    if point.cycles is not None:
        parts.append(f"{point.cycles:,} cycles")
    if point.arena_bytes is not None:
        parts.append(f"{point.arena_bytes:,} bytes of SRAM")
    return ", ".join(parts)
