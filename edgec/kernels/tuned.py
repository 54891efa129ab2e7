"""Layers as `edgec tune` tells them apart: a signature that equal layers of all networks share.

A signature is text: the operator, types and shapes of what it reads and writes, and its attributes,
of which records (how sums become codes, a residual) count by their kind alone.  So scales, weights
and names play no part, and neither does the network.  A size that differs from run to run is
written as the largest one, like ``<=128``.
"""

from __future__ import annotations

import dataclasses
import enum
from typing import Any

from edgec.ir.graph import Graph, Node


def signature(graph: Graph, node: Node) -> str:
    """The signature of a layer.

    Args:
        graph: INTEGER stage.
        node: one of its nodes.
    """
    reads = [_operand(graph, name) for name in node.inputs if name]
    writes = [_operand(graph, name) for name in node.outputs]
    words = [node.op, *filter(None, reads), "to", *writes, *_attributes(node.attrs)]
    return " ".join(words)


def _operand(graph: Graph, name: str) -> str:
    """Type and shape; "" for numbers of channels, which follow from the others."""
    if not graph.is_constant(name):
        value = graph.values[name]
        sizes = [str(size) for size in value.shape]
        axis = None if graph.length is None else graph.length.axes.get(name)
        if axis is not None:
            sizes[axis] = f"<={sizes[axis]}"
        return f"{value.dtype.value}[{','.join(sizes)}]"
    constant = graph.constants[name]
    shape = ",".join(map(str, constant.shape))
    return f"{constant.dtype.value}[{shape}]" if len(constant.shape) > 1 else ""


def _attributes(attrs: Any) -> list[str]:
    """Attributes that differ from their defaults."""
    found = []
    for each in dataclasses.fields(attrs):
        value = getattr(attrs, each.name)
        if value != each.default:
            found.append(f"{each.name}={_plain(value)}")
    return found


def _plain(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return str(value.value)
    if dataclasses.is_dataclass(value):
        return type(value).__name__
    if isinstance(value, tuple):
        return ",".join(map(_plain, value))
    return str(value)
