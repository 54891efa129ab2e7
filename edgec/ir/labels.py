"""Labels of a tensor's elements, which follow them through operators.

A label stands for whatever is known of an element by its place: which channel it belongs to, which
factor it may take, which element of another tensor it is.  Numbers that are known by channel may be
carried across an operator only as its labels say (`RealOperator.labelled`), for a move changes
count and order of channels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.ir.operator import Shape
from edgec.ir.real import NO_LABEL, RealOperator


def element_labels(shape: Shape) -> Array:
    """A label for each element: its number in row-major order; int64 [...]."""
    return np.arange(math.prod(shape)).reshape(shape)


def channel_labels(shape: Shape) -> Array:
    """A label for each channel, that is place on the last axis; int64 [...], a view."""
    return np.broadcast_to(np.arange(shape[-1]) if shape else np.array(0), shape)


def labels_after(graph: Graph, node: Node, labels: Mapping[str, Array]) -> Array | None:
    """Labels of the elements of a node's output.

    Args:
        graph: REAL or ANNOTATED stage.
        node: one of its nodes.
        labels: int64 of the operand's shape, by operand; elements of others have none.

    Returns:
        int64 of the output's shape, `NO_LABEL` for what has none; None where elements of several
        labels meet in one element of the output.
    """
    given = [
        labels.get(name, np.broadcast_to(NO_LABEL, graph.shape(name))) if name else None
        for name in node.inputs
    ]
    return node.attrs_as(RealOperator).labelled(node.attrs.Inputs.of(given))


def keeps_channels(graph: Graph, node: Node) -> bool:
    """Whether channel c of the output holds what channel c of each operand does, or fills."""
    names = [name for name in node.inputs if name]
    labels = {name: channel_labels(graph.shape(name)) for name in names}
    found = labels_after(graph, node, labels)
    if found is None:
        return False
    sizes = {graph.shape(name)[-1:] for name in (*names, node.output)}
    own = channel_labels(graph.shape(node.output))
    return len(sizes) == 1 and bool(((found == own) | (found == NO_LABEL)).all())


def label_of_channel(labels: Array) -> Array | None:
    """The label of each channel of [..., C], int64 [C]; None where it differs between places."""
    rows = labels.reshape(-1, labels.shape[-1] if labels.ndim else 1)
    return rows[0] if bool((rows == rows[0]).all()) else None
