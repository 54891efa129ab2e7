"""The parts of a page on a build: figures at its top, tables of layers and of losses, commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from edgec.base.options import App
from edgec.base.system import command_line
from edgec.report.console import shortened
from edgec.report.model import BufferReport, LayerReport, LossReport, Report
from edgec.workflow.session import places_of


@dataclass(frozen=True, slots=True)
class Tile:
    """One of the figures at the top of the page."""

    name: str
    value: str
    detail: str


_TITLE_CHARACTERS = 26


@dataclass(frozen=True, slots=True)
class Work:
    """Work of a build's layers: cycles, or instructions.

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


_MOST_ROWS = 10
_LOSS_TITLE_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class LossRow:
    """Noise that a layer, or the codes of an input, add at the outputs.

    Attributes:
        where: number of the layer, or "input".
        title: its tensor in one line.
        full_title: the whole name.
        share: part of what all of them add, the bar relative to the worst.
        weights, codes: dB of the worst output with that alone; "" where it adds nothing.
        why: the cause and the figure that shows it.
        advice: what to try.
    """

    where: str
    title: str
    full_title: str
    share: Cell
    weights: str
    codes: str
    why: str
    advice: str


def loss_rows(report: Report) -> tuple[LossRow, ...]:
    """The rows of the largest losses of a build, the worst first."""
    worst = max((loss.share for loss in report.losses), default=1.0)
    return tuple(_row(loss, worst) for loss in report.losses[:_MOST_ROWS])


def _row(loss: LossReport, worst: float) -> LossRow:
    return LossRow(
        where="input" if loss.step is None else str(loss.step),
        title=shortened(loss.tensor, _LOSS_TITLE_CHARACTERS),
        full_title=loss.tensor,
        share=Cell(f"{loss.share:.1%}", 100 * loss.share / worst),
        weights=_decibels(loss.weights_db),
        codes=_decibels(loss.codes_db),
        why=f"{loss.why}: {loss.detail}" if loss.detail else loss.why,
        advice=loss.advice,
    )


def _decibels(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} dB"


@dataclass(frozen=True, slots=True)
class NextCommand:
    """A command, quoted for the shell, and what it does."""

    command: str
    purpose: str


def next_commands(
    folder: Path, report: Report, labelled: Sequence[str] = (), *, has_cycles: bool
) -> tuple[NextCommand, ...]:
    """Commands that can follow a build.

    Args:
        folder: build folder.
        report: its report.
        labelled: words that name samples with labels, after an option like --data; empty: none are
            known.
        has_cycles: its firmware can be profiled.

    Raises:
        ConfigError: the folder holds no build.
    """
    found = []
    answers = report.app is App.CONSOLE  # another program does not take these commands
    for place in places_of(folder)[-1:] if answers else ():
        on = ("--on", place)
        data, inputs = labelled or ["LABELLED.npz"], labelled or ["SAMPLES.npz"]
        found += [
            _command("evaluate", folder, "--data", *data, *on, purpose="accuracy"),
            _command("validate", folder, *on, purpose="every layer beside the reference"),
            _command("run", folder, "--input", *inputs, *on, purpose="outputs of samples"),
        ]
    if has_cycles:
        purpose = "where the time goes, function by function"
        found.append(_command("profile", folder, "--html", "profile.html", purpose=purpose))
    if report.board.upload.tools and report.memory.flash_bytes is not None:
        found.append(_command("flash", folder, purpose="onto the board that is plugged in"))
    export = ("--as", "cmake", "-o", f"{folder}-cmake")
    found.append(_command("export", folder, *export, purpose="the library for your own project"))
    return tuple(found)


def _command(name: str, folder: Path, *words: str, purpose: str) -> NextCommand:
    return NextCommand(command_line(["edgec", name, folder, *words]), purpose)
