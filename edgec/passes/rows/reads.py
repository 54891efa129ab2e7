"""Rows that nodes read: windows over operands, and operands that every row needs whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import DType
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.rows import EACH_ROW, ROWS, RowWindow

ALIGNED_BYTES = 4
"""Rows of a time begin at multiples of this many bytes: kernels read words."""


@dataclass(frozen=True, slots=True)
class Read:
    """An operand of a node whose rows go with those of the output.

    Attributes:
        name: the value that is read.
        place: its place among the operands of the node.
        window: rows of it that a row of the output needs.
    """

    name: str
    place: int
    window: RowWindow


def row_reads(graph: Graph, node: Node) -> tuple[Read, ...] | None:
    """The operands of a node that it reads row by row; None if it cannot be computed by rows.

    Operands of one row are read whole each time and are not among them.

    Args:
        graph: INTEGER stage, straight.
        node: one of it.
    """
    attrs = node.attrs
    if not isinstance(attrs, qops.IntegerOperator) or len(node.outputs) != 1:
        return None
    window = attrs.row_window(attrs.Inputs.of(graph.shapes(node)))
    if window is None or not is_image(graph, node.output):
        return None
    if isinstance(attrs, qops.QResizeNearest):
        table = graph.constants[attrs.Inputs.of(node.inputs).rows].array
        if not qops.repeats(table, window.repeat):
            return None
    height = graph.shape(node.output)[ROWS]
    found = []
    place = -1
    for number, name in enumerate(qops.tensors_of(attrs.Inputs.of(node.inputs))):
        place = node.inputs.index(name, place + 1)
        shape = graph.shape(name)
        own = window if number == 0 else EACH_ROW
        if len(shape) < 3 or shape[-3] == 1:
            if own != EACH_ROW:
                return None
            continue
        whole = own == EACH_ROW and shape[-3] != height
        if graph.is_constant(name) or not is_image(graph, name) or whole:
            return None
        found.append(Read(name, place, own))
    return tuple(found) if found else None


def reads_by_name(graph: Graph, nodes: Iterable[Node]) -> dict[str, tuple[Read, ...]]:
    """Operands that nodes read row by row, by name, for the nodes that can be computed by rows.

    Args:
        graph: INTEGER stage, straight.
        nodes: some of it.
    """
    pairs = ((node.name, row_reads(graph, node)) for node in nodes)
    return {name: reads for name, reads in pairs if reads is not None}


def inputs_for_rows(node: Node, rows: int) -> dict[int, int]:
    """Operands that are tables of rows, of which only some serve: their places, and how many rows.

    Args:
        node: one that `row_reads` takes.
        rows: rows of the output that it computes at a time.
    """
    if not isinstance(node.attrs, qops.QResizeNearest):
        return {}
    names = node.attrs.Inputs.of(node.inputs)
    return {node.inputs.index(names.rows): rows}


def is_image(graph: Graph, name: str) -> bool:
    """Whether a value is one image of several rows."""
    value = graph.values.get(name)
    if value is None or len(value.shape) != 4:
        return False
    return value.shape[0] == 1 and value.shape[ROWS] > 1


def row_bytes(graph: Graph, name: str) -> int:
    """Bytes of a row of an image."""
    value = graph.values[name]
    return value.size_bytes // value.shape[ROWS]


def padding_byte(graph: Graph, read: Read) -> int | None:
    """Every byte of a row of padding; None where bytes differ."""
    value = graph.values[read.name]
    dtype = value.dtype.numpy
    if read.window.least_code:
        code = int(np.iinfo(dtype).min)
    elif value.quant is None or value.quant.axis is not None:
        return None
    else:
        code = value.quant.tensor_zero_point
    found = set(np.array([code], dtype).tobytes())
    return found.pop() if len(found) == 1 and value.dtype is not DType.INT32 else None
