"""Divisions out of the reciprocals that the importer writes them with.

A reciprocal rounded to 8 bits loses most of a quotient's digits; a division rounds once.

Rules:
1. quotient: ``Mul`` by a ``Reciprocal`` that nothing else reads becomes ``Div``.
2. root: the ``Reciprocal`` of a ``Sqrt`` that nothing else reads becomes ``Rsqrt``, unless it is
   part of a product: then rule 1 applies.

Neither applies where the file pins a quantization between the two.
"""

from __future__ import annotations

from dataclasses import replace

from edgec.ir import ops
from edgec.ir.graph import Graph, GraphBuilder, Node
from edgec.ir.ops import UnaryKind
from edgec.passes.edit import sweep

_RECIPROCAL = ops.Unary(UnaryKind.RECIPROCAL)
_ROOT = ops.Unary(UnaryKind.SQRT)


def fuse_division(graph: Graph) -> Graph:
    """Apply the rules until none applies; each takes an operator away."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    if isinstance(node.attrs, ops.Mul):
        return _quotient(graph, node)
    if node.attrs == _RECIPROCAL:
        return _root(graph, node)
    return None


def _quotient(graph: Graph, node: Node) -> Graph | None:
    real = ops.Mul.Inputs.of(node.inputs)
    for dividend, inverse in ((real.a, real.b), (real.b, real.a)):
        made = _only_part(graph, inverse, node)
        if made is not None and made.attrs == _RECIPROCAL:
            inputs = ops.Div.Inputs(dividend, made.first)
            return _joined(graph, node, made, ops.Div(), inputs.names())
    return None


def _root(graph: Graph, node: Node) -> Graph | None:
    reader = graph.sole_consumer(node.output)
    made = _only_part(graph, node.first, node)
    if made is None or made.attrs != _ROOT:
        return None
    if reader is not None and isinstance(reader.attrs, ops.Mul):
        return None
    return _joined(graph, node, made, ops.Unary(UnaryKind.RSQRT), made.inputs)


def _only_part(graph: Graph, name: str, reader: Node) -> Node | None:
    """What computes a value that nobody but `reader` sees, unrounded."""
    made = graph.producers.get(name)
    if made is None or graph.sole_consumer(name) is not reader:
        return None
    return made if graph.values[name].quant is None else None


def _joined(
    graph: Graph, node: Node, made: Node, attrs: ops.Div | ops.Unary, inputs: tuple[str, ...]
) -> Graph:
    builder = GraphBuilder.of(graph)
    builder.remove(made)
    sources = tuple(dict.fromkeys((*made.sources, *node.sources)))
    builder.put(replace(node, attrs=attrs, inputs=inputs, sources=sources))
    return builder.build()
