"""Plots of points: each with a text for who points at it, some with a label beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len

from edgec.profile.plot import CHARACTER, NARROW, WIDE, ZOOMS, Curve, Label, Mark, Plot, css

_CORE = 5.0
"""Half of the part of a point, in pixels, that no label may cover."""
Rectangle = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(frozen=True, slots=True)
class Place:
    """A label's left end and the middle of its line, in pixels from its point."""

    dx: float
    dy: float


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a plot.

    Attributes:
        x, y: its place, in shares of the frame.
        radius: in pixels.
        title: what a pointer and a screen reader say of it.
        label: text beside it; "" without one.
        style: its look, a class of `_style.html.j2`.
        narrow, wide: where its label is on narrow and on wide pages; None where none is free.
    """

    x: float
    y: float
    radius: float
    title: str
    label: str = ""
    style: str = "dot"
    narrow: Place | None = None
    wide: Place | None = None


def with_points(plot: Plot, curves: Sequence[Curve], points: Sequence[Point]) -> Plot:
    """A plot with lines and points in its frame."""
    labels = (
        _label(point, place, pages)
        for point in points
        for place, pages in ((point.narrow, "narrow"), (point.wide, "wide"))
        if place is not None
    )
    return replace(
        plot, curves=tuple(curves), marks=tuple(map(_mark, points)), labels=tuple(labels)
    )


def _mark(point: Point) -> Mark:
    place = f"{css(left=point.x, top=point.y)}; --radius: {point.radius:.1f}px"
    return Mark(f"point {point.style}", place, point.title)


def _label(point: Point, place: Place, pages: str) -> Label:
    left = f"calc({100 * point.x:.2f}% + {place.dx:.1f}px)"
    top = f"calc({100 * point.y:.2f}% + {place.dy:.1f}px)"
    return Label(f"label {pages}", f"left: {left}; top: {top}", point.label)


def labelled(points: Sequence[Point], height: float) -> tuple[Point, ...]:
    """The points with their labels right, above, below or left: the first place that is free.

    A place is free if it covers no other label and no point, and is inside the frame, at the least
    and at the greatest width that a page shows it at, and at each of `ZOOMS`.

    Args:
        points: they.
        height: pixels of the frame from top to bottom.
    """
    narrow = _places(points, height, NARROW)
    wide = _places(points, height, WIDE)
    return tuple(
        replace(point, narrow=a, wide=b) for point, a, b in zip(points, narrow, wide, strict=True)
    )


def _places(
    points: Sequence[Point], height: float, widths: tuple[float, float]
) -> list[Place | None]:
    frames = [(zoom * height, zoom * width) for width in widths for zoom in ZOOMS]
    taken = [[_core(point, *frame) for point in points] for frame in frames]
    found: list[Place | None] = []
    for point in points:
        place = None
        for candidate in _candidates(point) if point.label else ():
            boxes = [label_box(point, candidate, *frame) for frame in frames]
            fits = (
                _inside(box, *frame) and not covers_any(box, others)
                for box, others, frame in zip(boxes, taken, frames, strict=True)
            )
            if all(fits):
                place = candidate
                for box, others in zip(boxes, taken, strict=True):
                    others.append(box)
                break
        found.append(place)
    return found


def _candidates(point: Point) -> tuple[Place, ...]:
    width = _width(point)
    away = point.radius + 4
    return (
        Place(away, 0.0),
        Place(-width / 2, -away - 8),
        Place(-width / 2, away + 8),
        Place(-away - width, 0.0),
        Place(2.0, -away - 8),
        Place(2.0, away + 8),
        Place(-width - 2, -away - 8),
        Place(-width - 2, away + 8),
    )


def _width(point: Point) -> float:
    return CHARACTER * cell_len(point.label)


def _core(point: Point, height: float, width: float) -> Rectangle:
    x, y = point.x * width, point.y * height
    return (x - _CORE, y - _CORE, x + _CORE, y + _CORE)


def label_box(point: Point, place: Place, height: float, width: float) -> Rectangle:
    """The area of a label in a frame of a height and a width, in pixels."""
    left, middle = point.x * width + place.dx, point.y * height + place.dy
    return (left, middle - 8, left + _width(point), middle + 8)


def _inside(box: Rectangle, height: float, width: float) -> bool:
    left, top, right, bottom = box
    return left >= 2 and right <= width - 2 and top >= 2 and bottom <= height - 2


def covers_any(box: Rectangle, others: Sequence[Rectangle]) -> bool:
    """Whether an area shares a point with one of others."""
    left, top, right, bottom = box
    return any(left < o[2] and o[0] < right and top < o[3] and o[1] < bottom for o in others)
