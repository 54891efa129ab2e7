"""Cones: element-wise operators that together make one value of another value and numbers alone."""

from __future__ import annotations

from collections.abc import Iterator

from edgec.base.dtypes import DType
from edgec.ir import ops
from edgec.ir.graph import Graph, Node

MOST_NODES = 16
"""Operators of the largest cone that is looked for."""


def candidates(graph: Graph, node: Node) -> Iterator[str]:
    """Values that the operators before `node` read: candidates for x, the farthest first."""
    found: dict[str, None] = {}
    waiting = [node]
    for part in waiting:  # grows while it is walked
        for name in part.inputs:
            if name not in graph.values or name in found:
                continue
            found[name] = None
            producer = graph.producers.get(name)
            if producer is not None and len(waiting) < MOST_NODES and elementwise(graph, producer):
                waiting.append(producer)
    return reversed(found)


def cone_between(graph: Graph, node: Node, source: str) -> tuple[Node, ...] | None:
    """The operators between `source` and `node`, in graph order; None if other values enter."""
    found: dict[str, Node] = {}
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if part.name in found:
            continue
        if not elementwise(graph, part) or len(found) > MOST_NODES:
            return None
        found[part.name] = part
        for name in part.inputs:
            if name == source or graph.is_constant(name):
                continue
            producer = graph.producers.get(name)
            if producer is None or graph.values[name].quant is not None:
                return None
            waiting.append(producer)
    return tuple(part for part in graph.nodes if part.name in found)


def from_layer(graph: Graph, name: str) -> bool:
    """Whether a convolution or dense layer computes a value that one operator reads."""
    while (made := graph.producers.get(name)) is not None:
        if graph.sole_consumer(name) is None:
            return False
        if isinstance(made.attrs, ops.Weighted | ops.BatchNormalization):
            return True
        if not isinstance(made.attrs, ops.Transpose | ops.Reshape):
            return False
        name = made.first
    return False


def elementwise(graph: Graph, node: Node) -> bool:
    """Whether a node computes each element from one element of each value and numbers."""
    if isinstance(node.attrs, ops.Clip):
        return True
    if isinstance(node.attrs, ops.Unary | ops.Cast):
        return True
    if not isinstance(node.attrs, ops.Arithmetic | ops.Where):
        return False
    numbers = all(_is_number(graph, name) for name in node.inputs if graph.is_constant(name))
    shapes = {graph.shape(name) for name in (*node.inputs, node.output) if name in graph.values}
    return numbers and len(shapes) == 1


def is_real(graph: Graph, name: str) -> bool:
    """Whether a value holds real numbers."""
    return graph.values[name].dtype is DType.FLOAT32


def _is_number(graph: Graph, name: str) -> bool:
    """Whether a constant holds one number, once or repeated."""
    array = graph.constants[name].array
    return array.size > 0 and bool((array == array.flat[0]).all())
