"""Chart of layers that run in turns of a few rows: which of them computes rows in which turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edgec.base.calls import Firing, StepLoop
from edgec.profile.plot import RIGHT, WIDTH
from edgec.report.console import count, shortened
from edgec.report.model import LayerReport

_LEFT, _TOP, _PITCH, _BLOCK = 300.0, 8.0, 24.0, 16.0
_BOTTOM = 28.0
_CHARACTER = 7.2
"""Room for a character of the chart's texts."""
_MOST_TURNS = 48
"""Turns that are shown: later ones repeat them."""
_FEWEST_MARKS = 6
_HUES = 6


@dataclass(frozen=True, slots=True)
class TurnBlock:
    """A time that a layer computes rows: its left edge, its width, and what a pointer shows."""

    x: float
    width: float
    title: str


@dataclass(frozen=True, slots=True)
class TurnLane:
    """A layer: its label, the middle of its line, and its blocks."""

    label: str
    y: float
    hue: int
    blocks: tuple[TurnBlock, ...]

    @property
    def top(self) -> float:
        """Top of its blocks."""
        return self.y - _BLOCK / 2

    @property
    def base_line(self) -> float:
        """Base line of its label."""
        return self.y + 4


@dataclass(frozen=True, slots=True)
class TurnMark:
    """A number of a turn below the lanes, with its x."""

    x: float
    text: str


@dataclass(frozen=True, slots=True)
class TurnsChart:
    """A loop of layers in turns.

    Attributes:
        name: the loop, from the model, untrusted.
        words: its turns and layers.
        height: height of the drawing, which is as wide as all charts.
        block_height: height of a block.
        label_x: right end of labels.
        marks_y: base line of the numbers of turns.
        lanes: its layers, in order.
        marks: numbers of turns.
    """

    name: str
    words: str
    height: float
    block_height: float
    label_x: float
    marks_y: float
    lanes: tuple[TurnLane, ...]
    marks: tuple[TurnMark, ...]


def turns_charts(
    loops: Sequence[StepLoop], layers: Sequence[LayerReport]
) -> tuple[TurnsChart, ...]:
    """A chart for each loop whose layers run in some of its turns.

    Args:
        loops: those of a program.
        layers: its layers, by number of the step.
    """
    return tuple(_chart(loop, layers) for loop in loops if loop.firings)


def _chart(loop: StepLoop, layers: Sequence[LayerReport]) -> TurnsChart:
    shown = min(loop.count, _MOST_TURNS)
    each = (WIDTH - RIGHT - _LEFT) / shown
    steps = range(loop.first_step, loop.end_step)
    lanes = tuple(
        TurnLane(
            label=shortened(f"{layers[step].name} · {step}", int((_LEFT - 10) / _CHARACTER)),
            y=_TOP + _PITCH * (number + 0.5),
            hue=number % _HUES,
            blocks=tuple(_blocks(loop.firings[number], layers[step], shown, each)),
        )
        for number, step in enumerate(steps)
    )
    bottom = _TOP + _PITCH * len(lanes)
    stride = max(1, shown // _FEWEST_MARKS)
    marks = (TurnMark(_LEFT + (turn + 0.5) * each, str(turn)) for turn in range(0, shown, stride))
    part = f"the first {shown} of {count(loop.count)} turns" if shown < loop.count else "all turns"
    words = f"{len(lanes)} layers, {part}"
    return TurnsChart(
        name=loop.name,
        words=words,
        height=bottom + _BOTTOM,
        block_height=_BLOCK,
        label_x=_LEFT - 10,
        marks_y=bottom + 16,
        lanes=lanes,
        marks=tuple(marks),
    )


def _blocks(firing: Firing, layer: LayerReport, shown: int, each: float) -> list[TurnBlock]:
    """The times of a layer within the turns that are shown."""
    found = []
    for time in range(firing.count):
        turn = firing.phase + firing.period * time
        if turn >= shown:
            break
        first = time * firing.rows
        rows = f"row {first}" if firing.rows == 1 else f"rows {first} to {first + firing.rows - 1}"
        title = f"turn {turn}: {rows} of {layer.name}"
        found.append(TurnBlock(_LEFT + turn * each + each * 0.06, each * 0.88, title))
    return found
