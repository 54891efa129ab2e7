"""Columns of an image, from or into one that has more of them, in plain C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.rows import COLUMNS, ROWS
from edgec.kernels.common.spec import Plain
from edgec.kernels.family import Distances, KernelFamily, template_beside
from edgec.target.target import Target


@dataclass(frozen=True, slots=True)
class Columns(Plain):
    """A run of bytes of each row, between bytes of padding or others that stay.

    Attributes:
        rows: rows of x and y.
        run_bytes: what is copied of each.
        x_start, y_start: place of the first run in x and in y, in bytes.
        x_bytes, y_bytes: bytes of a row of x and of y.
        byte: what is written before and after the run in a row of y; None: nothing.
    """

    family: ClassVar[str] = "columns"
    template: ClassVar[Path] = template_beside(__file__, "columns")
    rows: int
    run_bytes: int
    x_start: int
    y_start: int
    x_bytes: int
    y_bytes: int
    byte: int | None = None

    @property
    def fills(self) -> tuple[tuple[int, int], ...]:
        """Place and number of the bytes of padding in a row of y."""
        end = self.y_start + self.run_bytes
        places = ((0, self.y_start), (end, self.y_bytes - end))
        return () if self.byte is None else tuple(each for each in places if each[1])

    def describe(self) -> str:
        """What the function computes, in words."""
        return f"Copy of {self.run_bytes} bytes of each of {self.rows} rows"


def spec(graph: Graph, node: Node, _target: Target) -> Columns:
    """The specification for a QColumnsFrom or QColumnsInto."""
    attrs = node.attrs_as(qops.QColumnsFrom, qops.QColumnsInto)
    x, y = graph.shape(node.input), graph.shape(node.output)
    each = y[-1] * graph.dtype(node.output).size_bytes
    return Columns(
        y[ROWS],
        attrs.count * each,
        attrs.source * each,
        attrs.target * each,
        x[COLUMNS] * each,
        y[COLUMNS] * each,
        attrs.byte if isinstance(attrs, qops.QColumnsFrom) and attrs.count < attrs.width else None,
    )


def overlap(_spec: Columns) -> Distances:
    """Other patches read, or write, the other columns of the larger image."""
    return (None,)


FAMILY = KernelFamily(
    spec_type=Columns,
    operators=(qops.QColumnsFrom, qops.QColumnsInto),
    spec=spec,
    overlap=overlap,
)
