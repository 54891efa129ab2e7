"""The geometry of the page's three charts: all numbers final, so that the template only draws.

Lengths are units of the SVG's own coordinate system; texts are untrusted until the template
escapes them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len

from edgec.profile.plot import BOTTOM, LEFT, RIGHT, TOP, WIDTH, Linear, Log, Plot, Tick, framed
from edgec.profile.types import Floor, LayerProfile, Profile
from edgec.report.console import shortened
from edgec.report.model import BufferReport

_BAR_LEFT, _BAR_RIGHT, _BAR_PITCH = 300, 210, 24
_ARENA_HEIGHT, _ROOF_HEIGHT = 420, 420
_CHARACTER, _LINE = 7.2, 16.0
"""Room for a character of the charts' texts, and for a line: those of wide fonts."""
_LEAST_NAME = 4
"""Characters of a name below which a label says nothing."""
_HUES = 6
_SAME_PLACE = 9.0
_Rectangle = tuple[float, float, float, float]
_MIN_RADIUS, _MAX_RADIUS = 5.0, 22.0


@dataclass(frozen=True, slots=True)
class Bar:
    """A layer's bar: cycles without waiting, then the wait for flash.

    Attributes:
        y: top of its row.
        stalls_x: x at which the second part begins.
        label: number and name of the layer.
        title: what a pointer shows.
        ideal, stalls: widths.
        value, value_x: words after the bar and the mark of the measured cycles.
        measured: x of the measured cycles; None without.
    """

    y: float
    stalls_x: float
    label: str
    title: str
    ideal: float
    stalls: float
    value: str
    value_x: float
    measured: float | None

    @property
    def top(self) -> float:
        """Top of the bar itself."""
        return self.y + 4

    @property
    def base_line(self) -> float:
        """Base line of the texts."""
        return self.y + 16

    @property
    def mark_top(self) -> float:
        """Upper end of the mark of the measured cycles."""
        return self.y + 1

    @property
    def mark_bottom(self) -> float:
        """Lower end of this mark."""
        return self.y + 23


@dataclass(frozen=True, slots=True)
class BarChart:
    """Cycles of layers, top to bottom; bars start at `left`."""

    height: float
    left: float
    bars: tuple[Bar, ...]

    @property
    def label_x(self) -> float:
        """Right end of the labels."""
        return self.left - 10


@dataclass(frozen=True, slots=True)
class Box:
    """A tensor in the arena: from one step to another, from one address to another.

    Attributes:
        label: as much of the name as fits; may be empty.
        label_y: base line of the label.
        title: what a pointer shows.
        hue: number of its colour; -1 for scratch memory.
    """

    x: float
    y: float
    width: float
    height: float
    label: str
    label_y: float
    title: str
    hue: int

    @property
    def label_x(self) -> float:
        """Left end of the label."""
        return self.x + 5

    @property
    def label_place(self) -> _Rectangle:
        """Area of the label: left, top, right, bottom."""
        width = _CHARACTER * cell_len(self.label)
        return (self.label_x, self.label_y - 12, self.label_x + width, self.label_y + 4)


@dataclass(frozen=True, slots=True)
class ArenaChart:
    """Tensors over time."""

    plot: Plot
    boxes: tuple[Box, ...]


@dataclass(frozen=True, slots=True)
class Dot:
    """Layers at one place of the roofline: the larger, the more of the run they take."""

    x: float
    y: float
    radius: float
    label: str
    label_x: float
    label_y: float
    title: str


@dataclass(frozen=True, slots=True)
class Roofline:
    """Cycles per MAC over MACs per byte, both logarithmic; `floor` are the points of a polyline."""

    plot: Plot
    dots: tuple[Dot, ...]
    floor: str


def bar_chart(found: Profile) -> BarChart:
    """Cycles of each layer."""
    room = WIDTH - _BAR_LEFT - _BAR_RIGHT
    most = max((max(e.counts.cycles, e.measured_cycles or 0) for e in found.layers), default=0)
    scale = room / max(most, 1)
    bars = tuple(_bar(index, layer, found, scale) for index, layer in enumerate(found.layers))
    return BarChart(len(bars) * _BAR_PITCH, _BAR_LEFT, bars)


def _bar(index: int, layer: LayerProfile, found: Profile, scale: float) -> Bar:
    counts = layer.counts
    per_mac = "" if layer.cycles_per_mac is None else f" · {layer.cycles_per_mac:.2f}/MAC"
    share = counts.cycles / found.total_cycles
    measured = layer.measured_cycles
    ideal = (counts.cycles - counts.flash_stalls) * scale
    return Bar(
        y=index * _BAR_PITCH,
        stalls_x=_BAR_LEFT + ideal,
        label=_bar_label(index, layer),
        title=f"{layer.title}: {counts.cycles:,} cycles, of which {counts.flash_stalls:,} wait for "
        f"flash; {layer.macs:,} MACs; {counts.instructions:,} instructions",
        ideal=ideal,
        stalls=counts.flash_stalls * scale,
        value=f"{_short(counts.cycles)} · {share:.1%}{per_mac}",
        value_x=_BAR_LEFT + max(counts.cycles, measured or 0) * scale + 8,
        measured=None if measured is None else _BAR_LEFT + measured * scale,
    )


def _bar_label(index: int, layer: LayerProfile) -> str:
    """As much of the layer's name as fits left of the bars, its kernel and its number."""
    rest = f" · {layer.kernel} · {index}"
    fits = int((_BAR_LEFT - 10) / _CHARACTER)
    return shortened(shortened(layer.title, max(fits - len(rest), _LEAST_NAME)) + rest, fits)


def arena_chart(buffers: Sequence[BufferReport], arena_bytes: int, steps: int) -> ArenaChart:
    """Chart of the arena: the buffers that live in each step."""
    last = max((buffer.end_step for buffer in buffers), default=steps)
    x = Linear(0, max(last, 1), LEFT, WIDTH - RIGHT)
    bottom = _ARENA_HEIGHT - BOTTOM
    y = Linear(0, max(arena_bytes, 1), bottom, TOP)
    boxes = [_box(index, each, x, y) for index, each in enumerate(buffers) if each.size_bytes]
    stride = max(1, math.ceil(last / 24))
    ticks = tuple(Tick(x.at(step + 0.5), str(step)) for step in range(0, steps, stride))
    unit = _nice(arena_bytes / 6)
    marks = tuple(
        Tick(y.at(value), f"{value:,}") for value in range(0, arena_bytes + 1, max(unit, 1))
    )
    return ArenaChart(framed(_ARENA_HEIGHT, ticks, marks), _with_labels_apart(boxes))


def _box(index: int, buffer: BufferReport, x: Linear, y: Linear) -> Box:
    left, right = x.at(buffer.first_step), x.at(buffer.end_step)
    end = buffer.offset_bytes + buffer.size_bytes
    top, bottom = y.at(end), y.at(buffer.offset_bytes)
    fits = int((right - left - 10) / _CHARACTER)
    label = shortened(buffer.name, fits) if fits >= _LEAST_NAME and bottom - top >= _LINE else ""
    return Box(
        x=left + 1,
        y=top,
        width=max(right - left - 2, 1),
        height=max(bottom - top, 0.5),
        label=label,
        label_y=top + _LINE * 0.85,
        title=f"{buffer.name}: {buffer.size_bytes:,} bytes at {buffer.offset_bytes:,}, "
        f"steps {buffer.first_step} to {buffer.end_step - 1}",
        hue=-1 if buffer.name.startswith("scratch of ") else index % _HUES,
    )


def _with_labels_apart(boxes: Sequence[Box]) -> tuple[Box, ...]:
    """The boxes with each label on a line of its box that no other label needs.

    Small boxes choose first: they have fewer lines.  Where no line is free there is no label; the
    pointer still shows the name.
    """
    found = list(boxes)
    taken: list[_Rectangle] = []
    for index in sorted(range(len(found)), key=lambda i: found[i].height * found[i].width):
        box = found[index]
        lines = range(int(box.height / _LINE)) if box.label else ()
        places = (replace(box, label_y=box.label_y + _LINE * line) for line in lines)
        free = (each for each in places if not _covers_any(each.label_place, taken))
        found[index] = next(free, replace(box, label=""))
        if found[index].label:
            taken.append(found[index].label_place)
    return tuple(found)


def roofline(found: Profile) -> Roofline | None:
    """Layers against the core's floor; None when no layer multiplies."""
    layers = [(i, each) for i, each in enumerate(found.layers) if each.macs and each.moved_bytes]
    if not layers:
        return None
    intensities = [each.macs / each.moved_bytes for _, each in layers]
    costs = [each.counts.cycles / each.macs for _, each in layers]
    x = Log(min(intensities) / 1.6, max(intensities) * 1.6, LEFT, WIDTH - RIGHT)
    shown = (*costs, found.floor.cycles_per_mac)
    y = Log(min(shown) / 1.6, max(shown) * 1.8, _ROOF_HEIGHT - BOTTOM, TOP)
    places: dict[tuple[int, int], list[tuple[int, LayerProfile]]] = {}
    for (index, layer), intensity, cost in zip(layers, intensities, costs, strict=True):
        place = (round(x.at(intensity) / _SAME_PLACE), round(y.at(cost) / _SAME_PLACE))
        places.setdefault(place, []).append((index, layer))
    dots = _labelled([_dot(group, found, x, y) for group in places.values()])
    x_ticks = tuple(Tick(x.at(v), f"{v:g}") for v in _decades(x.low, x.high))
    y_ticks = tuple(Tick(y.at(v), f"{v:g}") for v in _decades(y.low, y.high))
    line = _floor_line(found.floor, x, y)
    return Roofline(framed(_ROOF_HEIGHT, x_ticks, y_ticks), dots, line)


def _dot(group: Sequence[tuple[int, LayerProfile]], found: Profile, x: Log, y: Log) -> Dot:
    """Layers that are too close to each other to be told apart."""
    macs = sum(layer.macs for _, layer in group)
    cycles = sum(layer.counts.cycles for _, layer in group)
    intensity = macs / sum(layer.moved_bytes for _, layer in group)
    share = cycles / found.total_cycles
    names = ", ".join(f"{index} {layer.title} ({layer.kernel})" for index, layer in group)
    return Dot(
        x=x.at(intensity),
        y=y.at(cycles / macs),
        radius=max(_MIN_RADIUS, _MAX_RADIUS * math.sqrt(share)),
        label=", ".join(str(index) for index, _ in group),
        label_x=0.0,
        label_y=0.0,
        title=f"{names}: {cycles / macs:.2f} cycles per MAC, {intensity:.1f} MACs per byte, "
        f"{share:.1%} of the run",
    )


def _labelled(dots: Sequence[Dot]) -> tuple[Dot, ...]:
    """The dots with their labels right, above, below or left: the first that covers no other."""
    taken = [(dot.x - 5, dot.y - 5, dot.x + 5, dot.y + 5) for dot in dots]
    placed = []
    for dot in dots:
        width = _CHARACTER * len(dot.label) + 4
        away = dot.radius + 4
        places = [
            (dot.x + away, dot.y + 4),
            (dot.x - width / 2, dot.y - away),
            (dot.x - width / 2, dot.y + away + 9),
            (dot.x - away - width, dot.y + 4),
        ]
        boxes = [(left, base - 10, left + width, base + 2) for left, base in places]
        free = [index for index, box in enumerate(boxes) if not _covers_any(box, taken)]
        chosen = free[0] if free else 0
        taken.append(boxes[chosen])
        left, base = places[chosen]
        placed.append(replace(dot, label_x=left, label_y=base))
    return tuple(placed)


def _covers_any(box: _Rectangle, others: Sequence[_Rectangle]) -> bool:
    left, top, right, bottom = box
    return any(left < o[2] and o[0] < right and top < o[3] and o[1] < bottom for o in others)


def _floor_line(floor: Floor, x: Log, y: Log) -> str:
    """Arithmetic or loads, whichever is slower, from left to right."""
    corner = 1 / (floor.cycles_per_mac * floor.bytes_per_cycle)
    stops = [x.low, *([corner] if x.low < corner < x.high else []), x.high]
    points = []
    for stop in stops:
        cost = max(floor.cycles_per_mac, 1 / (stop * floor.bytes_per_cycle))
        points.append(f"{x.at(stop):.1f},{y.at(min(cost, y.high)):.1f}")
    return " ".join(points)


def _decades(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten inside the range."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = [digit * 10.0**power for power in powers for digit in (1, 2, 5)]
    return [value for value in values if low <= value <= high]


def _nice(value: float) -> int:
    """The least 1, 2 or 5 times a power of two kilobytes (or bytes) that is at least `value`."""
    unit = 1
    while unit < value:
        unit *= 2
    return unit


def _short(number: int) -> str:
    """A count in three or four digits: 12.3 M, 456 k, 789."""
    if number >= 1_000_000:
        return f"{number / 1e6:.2f} M"
    return f"{number / 1e3:.1f} k" if number >= 1_000 else str(number)
