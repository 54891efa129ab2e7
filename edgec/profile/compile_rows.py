"""The rows of a page's table of layers: numbers, and the lengths of the bars beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edgec.profile.tiles import Tile
from edgec.report.console import shortened
from edgec.report.model import BufferReport, LayerReport, Report

_TITLE_CHARACTERS = 26


@dataclass(frozen=True, slots=True)
class Work:
    """What the layers of a build take of time.

    Attributes:
        unit: "cycles" or "instructions".
        layers: a number for each layer; empty where nothing was counted.
        words: where they are from, or why there are none.
        tiles: the figures of the whole run.
    """

    unit: str
    layers: tuple[int, ...]
    words: str
    tiles: tuple[Tile, ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """A number with a bar: `width` is its length, 0 to 100."""

    text: str
    width: float


@dataclass(frozen=True, slots=True)
class LayerRow:
    """A layer.

    Attributes:
        number: its step.
        layer: the layer.
        title: its name in one line.
        full_title: the whole name, and the nodes that it stands for.
        flash: its weights, the bar as a share of all.
        live_bytes: bytes of the arena that hold something while it runs.
        ram: these, the bar as a share of the arena.
        work: its cycles, the bar as a share of all; None where nothing was counted.
        error: noise of its output relative to the signal, the bar relative to the worst layer.
    """

    number: int
    layer: LayerReport
    title: str
    full_title: str
    flash: Cell
    live_bytes: int
    ram: Cell
    work: Cell | None
    error: Cell


def layer_rows(report: Report, work: Work) -> tuple[LayerRow, ...]:
    """The rows of all layers of a build."""
    weights = max(sum(layer.weight_bytes for layer in report.layers), 1)
    total = max(sum(work.layers), 1)
    worst = max((_error(layer) for layer in report.layers), default=0.0)
    rows = []
    for number, layer in enumerate(report.layers):
        live = live_bytes(report.buffers, number)
        rows.append(
            LayerRow(
                number=number,
                layer=layer,
                title=shortened(_title(layer), _TITLE_CHARACTERS),
                full_title=", ".join([layer.name, *layer.sources]),
                flash=_share(layer.weight_bytes, weights) if layer.weight_bytes else Cell("", 0.0),
                live_bytes=live,
                ram=Cell(f"{live:,}", 100 * live / max(report.memory.arena_bytes, 1)),
                work=_share(work.layers[number], total) if work.layers else None,
                error=_error_cell(layer, worst),
            )
        )
    return tuple(rows)


def live_bytes(buffers: Sequence[BufferReport], step: int) -> int:
    """Bytes of the arena that at least one tensor or scratch memory holds during a step."""
    spans = sorted(
        (buffer.offset_bytes, buffer.offset_bytes + buffer.size_bytes)
        for buffer in buffers
        if buffer.first_step <= step < buffer.end_step
    )
    total = end = 0
    for first, last in spans:
        total += max(last - max(first, end), 0)
        end = max(end, last)
    return total


def _title(layer: LayerReport) -> str:
    return next(iter(layer.sources), layer.name)


def _share(part: int, whole: int) -> Cell:
    share = part / whole
    return Cell(f"{part:,} · {share:.1%}", 100 * share)


def _error(layer: LayerReport) -> float:
    """Root of the noise's energy relative to the signal's; 0 where it was not measured."""
    return 0.0 if layer.sqnr_db is None else float(10 ** (-layer.sqnr_db / 20))


def _error_cell(layer: LayerReport, worst: float) -> Cell:
    if layer.sqnr_db is None:
        return Cell("", 0.0)
    error = _error(layer)
    width = 100 * error / worst if worst else 0.0
    return Cell(f"{layer.sqnr_db:.1f} dB · {error:.2%}", width)
