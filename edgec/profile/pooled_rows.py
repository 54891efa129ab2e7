"""The layers of a build with pooled weights, as rows of a table."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.report.console import shortened
from edgec.report.model import PooledLayerReport, Report

_TITLE_CHARACTERS = 26
_NAMES = ("", "layer", "kernel", "bits", "lanes", "groups at once", "SRAM B", "table B", "cycles")


@dataclass(frozen=True, slots=True)
class PooledRow:
    """A layer with pooled weights.

    Attributes:
        number: its step.
        title: its name in one line.
        full_title: its whole name.
        kernel: how it is computed.
        cells: its figures, "" where there is none.
        why: the reason for this kernel.
    """

    number: str
    title: str
    full_title: str
    kernel: str
    cells: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class PoolsPart:
    """A section about weight pools: a sentence, heads of columns, and rows."""

    words: str
    names: tuple[str, ...]
    rows: tuple[PooledRow, ...]


def pools_part(report: Report) -> PoolsPart | None:
    """The layers of a build with pooled weights; None: there are none."""
    if not report.pooled:
        return None
    others = sum(1 for layer in report.layers if layer.weight_bytes) - len(report.pooled)
    width = "can be lowered while it runs" if report.runtime_bits else "is fixed"
    words = (
        f"{len(report.pooled)} layers take their weights from shared vectors, {max(others, 0)} "
        f"have their own. The width of activations {width}. Cycles are estimates."
    )
    return PoolsPart(words, _NAMES, tuple(_row(layer, report) for layer in report.pooled))


def _row(layer: PooledLayerReport, report: Report) -> PooledRow:
    steps = {each.name: (i, each) for i, each in enumerate(report.layers)}
    number, step = steps.get(layer.layer, (None, None))
    name = layer.layer if step is None else next(iter(step.sources), step.name)
    table = f"{layer.table_bytes:,} {layer.table_place}" if layer.table_bytes else ""
    return PooledRow(
        number="" if number is None else str(number),
        title=shortened(name, _TITLE_CHARACTERS),
        full_title=name,
        kernel=" ".join(filter(None, (layer.kernel, layer.builder))),
        cells=(
            str(layer.activation_bits),
            str(layer.lanes) if layer.chunk_groups else "",
            str(layer.chunk_groups or ""),
            f"{layer.scratch_bytes:,}",
            table,
            "" if layer.cycles is None else f"{layer.cycles:,}",
        ),
        why=layer.reason,
    )
