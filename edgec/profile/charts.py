"""The charts of a run: cycles of layers, tensors in the arena, layers against the core's floor.

All numbers are final, so that the templates only draw; texts are untrusted until they escape them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len

from edgec.profile.plot import (
    CHARACTER,
    HEIGHT,
    LINE,
    NARROW,
    WIDE,
    ZOOMS,
    Axes,
    Curve,
    Label,
    Linear,
    Log,
    Mark,
    Plot,
    Tick,
    css,
    curve,
    framed,
)
from edgec.profile.points import Point, Rectangle, covers_any, labelled, with_points
from edgec.profile.ticks import counted, levels
from edgec.profile.types import LayerProfile, Profile
from edgec.report.model import BufferReport

_LEAST_NAME = 4
"""Characters of a name below which a label says nothing."""
_HUES = 6
_SAME_PLACE = 9.0
_MIN_RADIUS, _MAX_RADIUS = 5.0, 22.0
_MOST_NUMBERS = 4
"""Layers at one place of the roofline whose numbers its label has."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A layer's bar: cycles without waiting, then the wait for flash.

    Attributes:
        name: number and name of the layer.
        kernel: its kernel.
        title: all of it in words.
        ideal, stalls: lengths, percent of the longest bar.
        value: words after the bar.
        measured: place of the measured cycles, percent; None without.
    """

    name: str
    kernel: str
    title: str
    ideal: float
    stalls: float
    value: str
    measured: float | None


@dataclass(frozen=True, slots=True)
class Box:
    """A tensor in the arena: from one step to another, from one address to another.

    Attributes:
        x, y, width, height: in shares of the frame.
        label: its name.
        narrow, wide: line of the box, from 0, that shows the name on narrow and on wide pages; None
            where none is free.
        title: what a pointer and a screen reader say of it.
        hue: number of its colour; -1 for scratch memory.
    """

    x: float
    y: float
    width: float
    height: float
    label: str
    title: str
    hue: int
    narrow: int | None = None
    wide: int | None = None

    def label_place(self, line: int, width: float) -> Rectangle:
        """Area of the name on a line, in shares of a frame that is `width` pixels wide."""
        room = min(self.width, (CHARACTER * cell_len(self.label) + 8) / width)
        top = self.y + line * LINE / HEIGHT
        return (self.x, top, self.x + room, top + LINE / HEIGHT)


def bar_chart(found: Profile) -> tuple[Bar, ...]:
    """Cycles of each layer, top to bottom."""
    most = max((max(e.counts.cycles, e.measured_cycles or 0) for e in found.layers), default=0)
    scale = 100 / max(most, 1)
    return tuple(_bar(index, layer, found, scale) for index, layer in enumerate(found.layers))


def _bar(index: int, layer: LayerProfile, found: Profile, scale: float) -> Bar:
    counts = layer.counts
    per_mac = "" if layer.cycles_per_mac is None else f" · {layer.cycles_per_mac:.2f}/MAC"
    share = counts.cycles / found.total_cycles
    measured = layer.measured_cycles
    return Bar(
        name=f"{index} {layer.title}",
        kernel=layer.kernel,
        title=f"{layer.title}: {counts.cycles:,} cycles, of which {counts.flash_stalls:,} wait for "
        f"flash; {layer.macs:,} MACs; {counts.instructions:,} instructions",
        ideal=(counts.cycles - counts.flash_stalls) * scale,
        stalls=counts.flash_stalls * scale,
        value=f"{_short(counts.cycles)} · {share:.1%}{per_mac}",
        measured=None if measured is None else measured * scale,
    )


def arena_chart(buffers: Sequence[BufferReport], arena_bytes: int, steps: int) -> Plot:
    """Chart of the arena: the buffers that live in each step."""
    x, y = _arena_axes(buffers, arena_bytes, steps)
    numbers = [Tick(x.at(step + 0.5), str(step)) for step in range(steps)]
    addresses = levels(y, counted, whole=True, step=_power_of_two(arena_bytes / 6))
    axes = Axes([numbers] * len(ZOOMS), addresses, "step", "bytes from the arena's start")
    plot = framed("arena", "tensors in the arena by step and address", axes)
    boxes = arena_boxes(buffers, arena_bytes, steps)
    marks = (
        Mark(
            f"box hue{box.hue}",
            css(left=box.x, top=box.y, width=box.width, height=box.height),
            box.title,
        )
        for box in boxes
    )
    names = (name for box in boxes for name in _names(box))
    return replace(plot, marks=tuple(marks), labels=tuple(names))


def arena_boxes(buffers: Sequence[BufferReport], arena_bytes: int, steps: int) -> tuple[Box, ...]:
    """The boxes of the arena's chart, in the order of the buffers."""
    x, y = _arena_axes(buffers, arena_bytes, steps)
    boxes = [_box(index, each, x, y) for index, each in enumerate(buffers) if each.size_bytes]
    narrow, wide = (_lines(boxes, widths[0]) for widths in (NARROW, WIDE))
    shown = zip(boxes, narrow, wide, strict=True)
    return tuple(replace(box, narrow=a, wide=b) for box, a, b in shown)


def _arena_axes(
    buffers: Sequence[BufferReport], arena_bytes: int, steps: int
) -> tuple[Linear, Linear]:
    last = max((buffer.end_step for buffer in buffers), default=steps)
    return Linear(0, max(last, 1)), Linear(0, max(arena_bytes, 1), 1.0, 0.0)


def _names(box: Box) -> Iterator[Label]:
    """The name of a tensor on narrow and on wide pages, where it has a line; its end is cut off."""
    for line, style in ((box.narrow, "box-name narrow"), (box.wide, "box-name wide")):
        if line is not None:
            left, top = f"{100 * box.x:.2f}% + 4px", f"{100 * box.y:.2f}% + {LINE * line:.0f}px"
            most = f"{100 * box.width:.2f}% - 8px"
            place = f"left: calc({left}); top: calc({top}); max-width: calc({most})"
            yield Label(style, place, box.label)


def _box(index: int, buffer: BufferReport, x: Linear, y: Linear) -> Box:
    left, right = x.at(buffer.first_step), x.at(buffer.end_step)
    top, bottom = y.at(buffer.offset_bytes + buffer.size_bytes), y.at(buffer.offset_bytes)
    return Box(
        x=left,
        y=top,
        width=right - left,
        height=bottom - top,
        label=buffer.name,
        title=f"{buffer.name}: {buffer.size_bytes:,} bytes at {buffer.offset_bytes:,}, "
        f"steps {buffer.first_step} to {buffer.end_step - 1}",
        hue=-1 if buffer.name.startswith("scratch of ") else index % _HUES,
    )


def _lines(boxes: Sequence[Box], width: float) -> list[int | None]:
    """For each box the first of its lines that no other name needs, in a frame of this width.

    Small boxes choose first: they have fewer lines.  In a wider frame names take smaller shares of
    it, so what is free in the narrowest one is free.
    """
    found: list[int | None] = [None] * len(boxes)
    taken: list[Rectangle] = []
    for index in sorted(range(len(boxes)), key=lambda i: boxes[i].height * boxes[i].width):
        box = boxes[index]
        if box.width * width < 8 + CHARACTER * _LEAST_NAME:
            continue
        for line in range(int(box.height * HEIGHT / LINE)):
            place = box.label_place(line, width)
            if not covers_any(place, taken):
                found[index] = line
                taken.append(place)
                break
    return found


def roofline(found: Profile) -> Plot | None:
    """Layers against the core's floor; None when no layer multiplies.

    Cycles per MAC over MACs per byte, both logarithmic; the larger a point, the more of the run its
    layers take.
    """
    layers = _multiplying(found)
    if not layers:
        return None
    x, y = _roofline_axes(found)
    axes = Axes(
        levels(x),
        levels(y),
        "MACs per byte of weights, inputs and output",
        "cycles per MAC",
    )
    plot = framed("roofline", "cycles per MAC against the floor of the core", axes)
    return with_points(plot, [_floor_line(found, x, y)], roofline_points(found))


def roofline_points(found: Profile) -> tuple[Point, ...]:
    """The points of the roofline: layers, those at one place together."""
    x, y = _roofline_axes(found)
    places: dict[tuple[int, int], list[tuple[int, LayerProfile]]] = {}
    for index, layer in _multiplying(found):
        across = x.at(layer.macs / layer.moved_bytes) * WIDE[0]
        down = y.at(layer.counts.cycles / layer.macs) * HEIGHT
        place = (round(across / _SAME_PLACE), round(down / _SAME_PLACE))
        places.setdefault(place, []).append((index, layer))
    return labelled([_dot(group, found, x, y) for group in places.values()], HEIGHT)


def _multiplying(found: Profile) -> list[tuple[int, LayerProfile]]:
    return [(i, each) for i, each in enumerate(found.layers) if each.macs and each.moved_bytes]


def _roofline_axes(found: Profile) -> tuple[Log, Log]:
    layers = [each for _, each in _multiplying(found)]
    intensities = [each.macs / each.moved_bytes for each in layers]
    costs = [*(each.counts.cycles / each.macs for each in layers), found.floor.cycles_per_mac]
    x = Log(min(intensities) / 1.6, max(intensities) * 1.6)
    return x, Log(min(costs) / 1.6, max(costs) * 1.8, 1.0, 0.0)


def _dot(group: Sequence[tuple[int, LayerProfile]], found: Profile, x: Log, y: Log) -> Point:
    """Layers that are too close to each other to be told apart."""
    macs = sum(layer.macs for _, layer in group)
    cycles = sum(layer.counts.cycles for _, layer in group)
    intensity = macs / sum(layer.moved_bytes for _, layer in group)
    share = cycles / found.total_cycles
    names = ", ".join(f"{index} {layer.title} ({layer.kernel})" for index, layer in group)
    numbers = [str(index) for index, _ in group]
    more = ["…"] if len(numbers) > _MOST_NUMBERS else []
    return Point(
        x=x.at(intensity),
        y=y.at(cycles / macs),
        radius=max(_MIN_RADIUS, _MAX_RADIUS * math.sqrt(share)),
        label=", ".join([*numbers[:_MOST_NUMBERS], *more]),
        title=f"{cycles / macs:.2f} cycles per MAC, {intensity:.1f} MACs per byte, "
        f"{share:.1%} of the run: {names}",
    )


def _floor_line(found: Profile, x: Log, y: Log) -> Curve:
    """Arithmetic or loads, whichever is slower, from left to right."""
    floor = found.floor
    corner = 1 / (floor.cycles_per_mac * floor.bytes_per_cycle)
    stops = [x.low, *([corner] if x.low < corner < x.high else []), x.high]
    costs = [max(floor.cycles_per_mac, 1 / (stop * floor.bytes_per_cycle)) for stop in stops]
    points = ((x.at(at), y.at(min(cost, y.high))) for at, cost in zip(stops, costs, strict=True))
    return curve(points, "floor")


def _power_of_two(value: float) -> int:
    """The least power of two that is at least `value`."""
    unit = 1
    while unit < value:
        unit *= 2
    return unit


def _short(number: int) -> str:
    """A count in three or four digits: 12.3 M, 456 k, 789."""
    if number >= 1_000_000:
        return f"{number / 1e6:.2f} M"
    return f"{number / 1e3:.1f} k" if number >= 1_000 else str(number)
