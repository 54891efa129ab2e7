"""Which nodes become one integer operator: a layer with its activation or residual addition."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.quant.transformer.stream import is_real

WEIGHTED = (ops.Conv, ops.Gemm)
_KEEP_LAST = (ops.Reshape, ops.Transpose, ops.Slice)


@dataclass(frozen=True, slots=True)
class Layer:
    """A Conv or Gemm and what ends it.

    Attributes:
        node: the layer.
        activation: the Clip or Unary that alone reads it, or None.
        add: the addition to the stream that alone reads it, or None.
        residual: the other operand of `add`, a value or constant.
        output: the value that the integer operator computes.
    """

    node: Node
    activation: Node | None
    add: Node | None
    residual: str
    output: str

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All nodes that the integer operator stands for."""
        return tuple(node for node in (self.node, self.activation, self.add) if node is not None)


def find_layers(graph: Graph, stream: frozenset[str]) -> tuple[Layer, ...]:
    """Every Conv and Gemm of a graph, in order.

    Args:
        graph: REAL stage.
        stream: all values of the stream.
    """
    taken: set[str] = set()
    layers = []
    for node in graph.nodes:
        if isinstance(node.attrs, WEIGHTED):
            layer = _layer(graph, node, stream, taken)
            layers.append(layer)
            if layer.add is not None:
                taken.add(layer.add.name)
    return tuple(layers)


def _layer(graph: Graph, node: Node, stream: frozenset[str], taken: set[str]) -> Layer:
    reader = graph.sole_consumer(node.output)
    plain = Layer(node, None, None, "", node.output)
    if reader is None:
        return plain
    if isinstance(reader.attrs, ops.Clip | ops.Unary) and node.output not in stream:
        return Layer(node, reader, None, "", reader.output)
    if not isinstance(reader.attrs, ops.Add) or node.output not in stream or reader.name in taken:
        return plain
    others = [name for name in reader.inputs if name != node.output]
    if len(others) != 1 or graph.shape(others[0]) != graph.shape(node.output):
        return plain
    return Layer(node, None, reader, others[0], reader.output)


@dataclass(frozen=True, slots=True)
class Columns:
    """Where an operand of attention lies: columns of a value or constant, from `start` on."""

    root: str
    start: int


def columns_of(graph: Graph, name: str) -> Columns:
    """The tensor that attention reads an operand from, seen through slices of its last axis.

    Args:
        graph: REAL stage.
        name: an operand of `ops.Attention`.
    """
    start = 0
    while is_column_slice(graph, graph.producers.get(name)):
        node = graph.producers[name]
        start += node.attrs_as(ops.Slice).starts[-1]
        name = node.first
    return Columns(name, start)


def is_column_slice(graph: Graph, node: Node | None) -> bool:
    """True for a slice that takes neighbouring columns and that only attention reads."""
    if node is None or not isinstance(node.attrs, ops.Slice) or node.output in graph.outputs:
        return False
    attrs, shape = node.attrs, graph.shape(node.first)
    whole = attrs.sizes[:-1] == shape[:-1] and attrs.steps[-1] == 1
    return whole and all(isinstance(r.attrs, ops.Attention) for r in graph.consumers[node.output])


def keeps_channels(graph: Graph, node: Node) -> bool:
    """True for a move that leaves the last axis as it is, so that channels stay channels."""
    if not isinstance(node.attrs, _KEEP_LAST) or not is_real(graph, node.first):
        return False
    before, after = graph.shape(node.first), graph.shape(node.output)
    if not before or not after or before[-1] != after[-1] or math.prod(after) == 0:
        return False
    if isinstance(node.attrs, ops.Transpose):
        return node.attrs.perm[-1] == len(before) - 1
    return not isinstance(node.attrs, ops.Slice) or node.attrs.steps[-1] == 1
