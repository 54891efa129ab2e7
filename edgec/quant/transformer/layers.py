"""Nodes that become one integer operator: a layer with its activation or residual addition."""

from __future__ import annotations

from dataclasses import dataclass

from edgec.ir import ops
from edgec.ir.graph import Graph, Node

WEIGHTED = (ops.Conv, ops.Gemm)


@dataclass(frozen=True, slots=True)
class Layer:
    """A Conv or Gemm with the activation or residual addition fused onto it.

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
