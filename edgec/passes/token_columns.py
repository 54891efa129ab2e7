"""Origin of a value's elements, seen through reshapes, transposes and slices.

The heads of an attention are cut out of dense layers' outputs in many ways: one layer for all or
one for each of query, key and value, split before or after the transpose.  Carrying the positions
of the elements through the nodes finds the columns that were meant, whatever the way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.passes.fuse_matmul import number_factor

_MOVERS = (ops.Reshape, ops.Transpose, ops.Slice)
_MOST_ELEMENTS = 1 << 24


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A value as elements of another, times a number.

    Attributes:
        root: the other value, which no mover computes.
        positions: for each element of the value its position in the root, row-major.
        factor: the product of the numbers that it is multiplied by.
    """

    root: str
    positions: Array
    factor: float


@dataclass(frozen=True, slots=True)
class Columns:
    """Neighbouring columns of a value, seen as rows of its last axis: ``root[..., start:stop]``."""

    root: str
    start: int
    stop: int
    factor: float


def source_of(graph: Graph, name: str, factors: bool) -> Source | None:
    """Trace a value to the one it is taken from.

    Args:
        graph: REAL stage.
        name: the value.
        factors: True to look through multiplications by one number, too.

    Returns:
        None when the value is too large to follow.
    """
    chain: list[Node] = []
    factor = 1.0
    while True:
        node = graph.producers.get(name)
        if node is None or graph.values[name].quant is not None:
            break
        found = number_factor(graph, node) if factors else None
        if found is not None:
            name, factor = found[0], factor * found[1]
        elif isinstance(node.attrs, _MOVERS):
            chain.append(node)
            name = node.first
        else:
            break
    shape = graph.shape(name)
    if math.prod(shape) > _MOST_ELEMENTS:
        return None
    positions: Array | None = np.arange(math.prod(shape)).reshape(shape)
    for node in reversed(chain):
        attrs = node.attrs_as(ops.OneInput)
        positions = attrs.evaluate(attrs.Inputs(positions)) if positions is not None else None
    return Source(name, positions, factor) if positions is not None else None


def columns_of(graph: Graph, source: Source, batch: int, heads: int) -> Columns | None:
    """The columns that hold the heads side by side, if the elements lie so.

    Args:
        graph: REAL stage.
        source: the source of a value [..., L, D].
        batch: with `heads`, what the leading axes of the value are split into.
        heads: see `batch`.

    Returns:
        Columns of a root of batch * L rows whose [batch, L, heads*D] are the value's heads in
        order; None if there are none.
    """
    length, width = source.positions.shape[-2:]
    split = source.positions.reshape(batch, heads, length, width)
    found = split.transpose(0, 2, 1, 3).reshape(batch * length, heads * width)
    shape = graph.shape(source.root)
    if not shape or math.prod(shape[:-1]) != batch * length:
        return None
    start = int(found[0, 0])
    stop = start + heads * width
    if stop > shape[-1]:
        return None
    rows = np.arange(math.prod(shape)).reshape(batch * length, shape[-1])
    if not np.array_equal(rows[:, start:stop], found):
        return None
    return Columns(source.root, start, stop, source.factor)
