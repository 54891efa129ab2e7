"""The table of layers that `compile` prints; where the terminal is narrow, with fewer columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edgec.report.console import count
from edgec.report.model import LayerReport, Report
from edgec.report.tables import Table, table

_UNITS = "weights in bytes, SQNR in dB, loss in %"
"""Units for the caption of narrow tables, whose headers leave them out."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A column.

    Attributes:
        header: begins with ">" where cells are numbers; after a space their unit.
        cells: one a layer.
        total: stands below them.
    """

    header: str
    cells: Sequence[str]
    total: str = ""


def layer_table(report: Report) -> Table:
    """A row for each step of the program, and their totals.

    Narrower tables show the ends of names, and leave out kernels, forms of requantization and what
    is empty, then the shapes of outputs as well.
    """
    layers = report.layers
    operators = [layer.op for layer in layers]
    forms = [f"{layer.op} {layer.form}".rstrip() for layer in layers]
    output = _Column("output", [shape_text(layer.output_shape) for layer in layers])
    kernel = _Column("kernel", [layer.kernel for layer in layers])
    work, quality = _work(report), _quality(report)
    first, short = _Column("operator", forms), _Column("operator", operators)
    least = _table(report, [short, *work, *quality], without="kernels and outputs")
    less = _table(report, [short, output, *work, *quality], without="kernels", narrower=least)
    return _table(report, [first, output, *work, kernel, *quality], narrower=less)


def layer_name(layer: LayerReport) -> str:
    """The first node of the model that a step stands for."""
    return next(iter(layer.sources), layer.name)


def shape_text(shape: Sequence[int]) -> str:
    """A shape like 1x32x32x16."""
    return "x".join(map(str, shape)) or "scalar"


def _work(report: Report) -> list[_Column]:
    layers = report.layers
    weights = sum(layer.weight_bytes for layer in layers)
    turns = [_Column(">turns", [str(layer.turns) for layer in layers])] if report.loops else []
    return [
        *turns,
        _Column(">MACs", [_count(layer.macs) for layer in layers], count(report.macs)),
        _Column(">weights B", [_count(layer.weight_bytes) for layer in layers], count(weights)),
    ]


def _quality(report: Report) -> list[_Column]:
    ratios = ["" if x.sqnr_db is None else f"{x.sqnr_db:.1f}" for x in report.layers]
    found = [_Column(">SQNR dB", ratios)]
    if report.losses:
        lost = [_percent(report.lost(number)) for number in range(len(report.layers))]
        found.append(_Column(">loss %", lost))
    return found


def _table(
    report: Report, columns: Sequence[_Column], *, without: str = "", narrower: Table | None = None
) -> Table:
    """The number and the name of each layer, and more columns."""
    names = [layer_name(layer) for layer in report.layers]
    every = [
        _Column(">", [str(number) for number in range(len(names))]),
        _Column("…layer" if without else "layer", names, "total"),
        *(column for column in columns if any(column.cells) or not without),
    ]
    rows = [*zip(*(column.cells for column in every), strict=True), [c.total for c in every]]
    title = f"{report.model} on {report.board.title} ({report.board.core.value})"
    headers = [column.header for column in every]
    if not without:
        return table(title, headers, rows, narrower=narrower)
    names_alone = [header.partition(" ")[0] for header in headers]
    note = f"{_UNITS}; {without} are in report.txt"
    return table(title, names_alone, rows, narrower=narrower, note=note)


def _count(number: int) -> str:
    return count(number) if number else ""


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"
