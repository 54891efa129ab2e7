"""Signs before layers of binary weights take two values: 1 at zero, where ONNX's Sign has 0.

Binary networks are trained with signs that are -1 or 1, and exported with Sign, which has a third
value that real numbers hardly ever meet; codes meet it often, for each stands for an interval.

Rules:
1. sign: a Sign that only convolutions and dense layers of binary weights read, each filter's being
   plus or minus one number, maybe flattened in between, becomes the sign that is 1 at zero.  One
   whose operand is nowhere negative stays: it tells zeros from other numbers.
"""

from __future__ import annotations

from dataclasses import replace

from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.ops import UnaryKind
from edgec.ir.qops.signs import is_binary
from edgec.passes.edit import sweep

_MOVES = (ops.Reshape, ops.Transpose, ops.MaxPool)
"""Operators that give some of the elements that they read."""


def binarize(graph: Graph) -> Graph:
    """Apply the rule to all nodes."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    if not isinstance(node.attrs, ops.Unary) or node.attrs.kind is not UnaryKind.SIGN:
        return None
    if not _read_by_binary(graph, node.output) or _is_nowhere_negative(graph, node.first):
        return None
    builder = GraphBuilder.of(graph)
    builder.put(replace(node, attrs=ops.Unary(UnaryKind.BINARIZE)))
    return builder.build()


def _read_by_binary(graph: Graph, name: str) -> bool:
    """Whether layers of binary weights alone read a value, as it is or moved."""
    readers = graph.consumers[name]
    return (
        bool(readers)
        and name not in graph.outputs
        and all(
            _read_by_binary(graph, reader.output)
            if isinstance(reader.attrs, _MOVES)
            else _is_binary_layer(graph, reader)
            for reader in readers
        )
    )


def _is_binary_layer(graph: Graph, node: Node) -> bool:
    if not isinstance(node.attrs, ops.Conv | ops.Gemm):
        return False
    return is_binary(graph.constants[ops.layer_inputs(node).w].real64())


def _is_nowhere_negative(graph: Graph, name: str) -> bool:
    made = graph.producers.get(name)
    while made is not None and isinstance(made.attrs, _MOVES):
        made = graph.producers.get(made.first)
    return made is not None and isinstance(made.attrs, ops.Clip) and made.attrs.low >= 0.0
