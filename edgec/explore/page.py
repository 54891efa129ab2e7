"""`explore.html`: the front as a picture, every point with its command, and all trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from edgec.base.output_file import write_whole
from edgec.codegen.env import html_environment, values
from edgec.explore.chosen import commands_of
from edgec.explore.figures import Figure
from edgec.explore.front import Point, front_of
from edgec.explore.run import State
from edgec.explore.space import DEFAULT, Space
from edgec.explore.task import Task
from edgec.profile.plot import (
    HEIGHT,
    Axes,
    Label,
    Linear,
    Log,
    Plot,
    Tick,
    css,
    curve,
    framed,
)
from edgec.profile.points import Point as Mark
from edgec.profile.points import with_points
from edgec.profile.ticks import counted, levels

_LEAST_RADIUS, _MOST_RADIUS = 4.0, 20.0
_HUES = 6
_AXIS_PIXELS = 120
"""Room for each of the parallel axes and its texts."""
_FRONT, _BEATEN = "trial front", "trial"
"""Looks of points."""
_HISTORY_HEIGHT = 200.0


@dataclass(frozen=True, slots=True)
class Row:
    """A point of the front in the table."""

    number: int
    cells: tuple[str, ...]
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A trial among the parallel axes: the points of a polyline, and it in words."""

    points: str
    title: str
    on_front: bool


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of the parallel ones: a knob with its values, or a figure with its ends.

    Attributes:
        x: its place, a share of the frame.
        place: the same as CSS.
    """

    x: float
    place: str
    name: str
    ticks: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class ExplorePage:
    """Everything that the template shows.

    Attributes:
        lead: model, boards, trials.
        note: which samples were used for what.
        speed, area: what sentences call the figures along the chart and of a point's area.
        compared: all objectives, as a list of a sentence.
        hue: what sentences that begin with it call the figure of a point's hue.
        columns: number of columns of the table.
        legend: least and most bytes of a hue.
        headings: titles of the columns of figures.
        about: what a reader of the figures has to know.
        parallel_width: least width of the parallel axes in pixels.
        history: points of the front after each trial.
        refused: refused trials with their reasons.
    """

    template: ClassVar[str] = "profile/explore.html.j2"

    title: str
    lead: str
    note: str
    chart: Plot
    speed: str
    area: str
    compared: str
    hue: str
    columns: int
    legend: tuple[str, ...]
    headings: tuple[str, ...]
    about: str
    rows: tuple[Row, ...]
    axes_: tuple[Axis, ...]
    lines: tuple[Line, ...]
    parallel_width: int
    parallel_height: int
    history: Plot
    refused: tuple[tuple[int, str, str], ...]


def write_explore_html(state: State, path: Path) -> None:
    """Write the page; an earlier file is replaced as a whole or not at all.

    Raises:
        ConfigError: the file cannot be written.
    """
    write_whole(path, render_explore_html(state).encode("utf-8", "replace"))


def render_explore_html(state: State) -> str:
    """The page of a search with one build or more."""
    built = [point for point in state.points if point.figures is not None]
    on_front = {point.number for point in state.front}
    task = state.task
    figures = task.figures
    drop, speed, stored, memory = figures.objectives
    written = [point.value(memory.name) for point in built]
    low, high = min(written), max(written)
    x, y = _speed_axis(built, speed), _drop_axis(built, drop)
    marks = tuple(
        Mark(
            x=x.at(point.value(speed.name)),
            y=y.at(point.value(drop.name)),
            radius=_radius(point, built, stored),
            title=title_of(point, task),
            style=f"{_FRONT if point.number in on_front else _BEATEN} "
            f"hue{_hue(point.value(memory.name), low, high)}",
        )
        for point in sorted(built, key=lambda each: each.number in on_front)
    )
    axes, lines = _parallel(built, on_front, task)
    step = (high - low) / _HUES
    both = Axes(levels(x), levels(y), speed.axis, drop.axis)
    words = [each.word for each in figures.objectives]
    page = ExplorePage(
        title=", ".join(task.models),
        lead=f"{', '.join(task.space['board'])} · {len(state.points)} trials, "
        f"{len(on_front)} of them on the front",
        note=task.note,
        chart=with_points(framed("trials", f"lost accuracy over {speed.word}", both), (), marks),
        speed=words[1],
        area=words[2],
        compared=f"{', '.join(words[:-1])} and {words[-1]}",
        hue=words[-1][:1].upper() + words[-1][1:],
        columns=len(figures.all) + 1,
        legend=tuple(
            f"{low + i * step:,.0f} to {low + (i + 1) * step:,.0f} B" for i in range(_HUES)
        ),
        headings=tuple(each.heading for each in figures.all),
        about=" ".join(each.note for each in figures.all if each.note),
        rows=tuple(
            Row(point.number, cells_of(point, task), commands_of(task, point))
            for point in state.front
        ),
        axes_=axes,
        lines=lines,
        parallel_width=_AXIS_PIXELS * len(axes),
        parallel_height=HEIGHT,
        history=_history(state),
        refused=tuple(
            (point.number, setting_text(point, task.space), point.refused)
            for point in state.points
            if point.figures is None
        ),
    )
    return html_environment().get_template(page.template).render(values(page))


def setting_text(point: Point, space: Space) -> str:
    """The setting of a point in one line, without what is default or the same in all trials."""
    parts = [
        f"{name} {value}"
        for name, value in point.setting.items()
        if value != DEFAULT and len(space[name]) > 1
    ]
    return ", ".join(parts) or DEFAULT


def cells_of(point: Point, task: Task) -> tuple[str, ...]:
    """Figures of a point, then its setting."""
    found = point.figures or {}
    texts = (each.text(found.get(each.key)) for each in task.figures.all)
    return (*texts, setting_text(point, task.space))


def title_of(point: Point, task: Task) -> str:
    """Text that a pointer shows of a point."""
    cells = cells_of(point, task)
    pairs = zip(task.figures.objectives, cells, strict=False)
    said = ", ".join(figure.said.format(text) for figure, text in pairs)
    return f"trial {point.number}: {said}; {cells[-1]}"


def _speed_axis(built: Sequence[Point], speed: Figure) -> Log:
    values = [point.value(speed.name) for point in built]
    return Log(min(values) / 1.15, max(values) * 1.15)


def _drop_axis(built: Sequence[Point], drop: Figure) -> Linear:
    drops = [point.value(drop.name) for point in built]
    room = max(max(drops) - min(drops), 0.5) * 0.1
    return Linear(min(drops) - room, max(drops) + room)


def _radius(point: Point, built: Sequence[Point], stored: Figure) -> float:
    most = max(each.value(stored.name) for each in built)
    share = point.value(stored.name) / max(most, 1.0)  # a network can be without weights
    return float(max(_MOST_RADIUS * share**0.5, _LEAST_RADIUS))


def _hue(value: float, low: float, high: float) -> int:
    return min(int((value - low) / max(high - low, 1.0) * _HUES), _HUES - 1)


def _parallel(
    built: Sequence[Point], on_front: set[int], task: Task
) -> tuple[tuple[Axis, ...], tuple[Line, ...]]:
    """Axes side by side, one for each knob that varies and each figure, and a line a trial."""
    knobs = [k for k in built[0].setting if len({point.setting[k] for point in built}) > 1]
    names = [*knobs, *(each.name for each in task.figures.objectives)]
    heights: list[dict[int, float]] = []
    axes = []
    for place, name in enumerate(names):
        if name in knobs:
            options = [v for v in task.space[name] if v in {p.setting[name] for p in built}]
            at = {v: 1 - i / (len(options) - 1) for i, v in enumerate(options)}
            heights.append({point.number: at[point.setting[name]] for point in built})
            marks = tuple(Tick(y, text) for text, y in at.items())
        else:
            numbers = [point.value(name) for point in built]
            low, high = min(numbers), max(numbers)
            axis = Linear(low, max(high, low + 1e-9), 1.0, 0.0)
            heights.append({point.number: axis.at(point.value(name)) for point in built})
            marks = tuple(Tick(axis.at(v), f"{v:,.5g}") for v in dict.fromkeys((low, high)))
        across = (place + 0.5) / len(names)
        texts = (Label("tick over", css(left=across, top=tick.at), tick.text) for tick in marks)
        axes.append(Axis(across, css(left=across), name, tuple(texts)))
    lines = tuple(
        Line(
            curve(
                (axis.x, height[point.number]) for axis, height in zip(axes, heights, strict=True)
            ).points,
            title_of(point, task),
            point.number in on_front,
        )
        for point in sorted(built, key=lambda each: each.number in on_front)
    )
    return tuple(axes), lines


def _history(state: State) -> Plot:
    """Points of the front after each trial."""
    count = len(state.points)
    bounds = state.task.bounds
    sizes = [len(front_of(state.points[: i + 1], bounds)) for i in range(count)]
    x = Linear(0.0, float(max(count, 1)))
    y = Linear(0.0, 1.15 * max(*sizes, 1), 1.0, 0.0)
    counts = levels(x, counted, whole=True), levels(y, counted, whole=True)
    axes = Axes(*counts, "finished trials", "points of the front")
    plot = framed("history", "points of the front after each trial", axes, _HISTORY_HEIGHT)
    return replace(plot, curves=(curve((x.at(i + 1), y.at(n)) for i, n in enumerate(sizes)),))
