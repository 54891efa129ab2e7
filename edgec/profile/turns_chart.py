"""Chart of layers that run in turns of a few rows: which of them computes rows in which turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edgec.base.calls import Firing, StepLoop
from edgec.profile.plot import Label, Mark, Tick, css, spaced, x_labels
from edgec.report.console import count
from edgec.report.model import LayerReport

_MOST_TURNS = 48
"""Turns that are shown: later ones repeat them."""
_HUES = 6


@dataclass(frozen=True, slots=True)
class TurnLane:
    """A layer: its name, and a mark for each time that it computes rows."""

    name: str
    blocks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class TurnsChart:
    """A loop of layers in turns.

    Attributes:
        name: the loop, from the model, untrusted.
        group: a word for its marks, unlike that of others in the page.
        words: its turns and layers.
        lanes: its layers, in order.
        ticks: numbers of turns.
    """

    name: str
    group: str
    words: str
    lanes: tuple[TurnLane, ...]
    ticks: tuple[Label, ...]


def turns_charts(
    loops: Sequence[StepLoop], layers: Sequence[LayerReport]
) -> tuple[TurnsChart, ...]:
    """A chart for each loop whose layers run in some of its turns.

    Args:
        loops: those of a program.
        layers: its layers, by number of the step.
    """
    found = [loop for loop in loops if loop.firings]
    return tuple(_chart(loop, layers, f"turns{i}") for i, loop in enumerate(found))


def _chart(loop: StepLoop, layers: Sequence[LayerReport], group: str) -> TurnsChart:
    shown = min(loop.count, _MOST_TURNS)
    steps = range(loop.first_step, loop.end_step)
    lanes = tuple(
        TurnLane(
            name=f"{step} {layers[step].name}",
            blocks=tuple(_blocks(loop.firings[number], layers[step], shown, number % _HUES)),
        )
        for number, step in enumerate(steps)
    )
    part = f"the first {shown} of {count(loop.count)} turns" if shown < loop.count else "all turns"
    return TurnsChart(
        name=loop.name,
        group=group,
        words=f"{len(lanes)} layers, {part}",
        lanes=lanes,
        ticks=x_labels(spaced([Tick((i + 0.5) / shown, str(i)) for i in range(shown)])),
    )


def _blocks(firing: Firing, layer: LayerReport, shown: int, hue: int) -> list[Mark]:
    """The times of a layer within the turns that are shown."""
    found = []
    for time in range(firing.count):
        turn = firing.phase + firing.period * time
        if turn >= shown:
            break
        first = time * firing.rows
        rows = f"row {first}" if firing.rows == 1 else f"rows {first} to {first + firing.rows - 1}"
        title = f"turn {turn}: {rows} of {layer.name}"
        place = css(left=(turn + 0.06) / shown, width=0.88 / shown)
        found.append(Mark(f"box hue{hue}", place, title))
    return found
