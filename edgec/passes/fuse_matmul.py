"""Transposes and factors around a product of two values become part of it.

Rules:
1. transpose: a ``Transpose`` of the last two axes of an operand of `MatMul` becomes its flag.
2. factor: ``Mul`` of an operand or of the product by one number becomes its `scale`.
3. factors: ``Mul`` of the product by a number for each matrix (the temperature of each head in
   XCiT's attention) is done to the first operand, which leaves the product to its Softmax.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.passes.edit import replace_node, sweep
from edgec.passes.linear import either_way


def fuse_matmul(graph: Graph) -> Graph:
    """Apply the rules until none applies."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    if isinstance(node.attrs, ops.MatMul):
        return _operand(graph, node, "a") or _operand(graph, node, "b")
    return _product(graph, node) or _factors(graph, node)


def _operand(graph: Graph, node: Node, which: Literal["a", "b"]) -> Graph | None:
    """Rules 1 and 2 for one operand."""
    attrs = node.attrs_as(ops.MatMul)
    operands = attrs.Inputs.of(node.inputs)
    producer = graph.producers.get(operands.a if which == "a" else operands.b)
    if producer is None or graph.values[producer.output].quant is not None:
        return None
    source, factor = producer.first, number_factor(graph, producer)
    if factor is not None:
        source, attrs = factor[0], replace(attrs, scale=attrs.scale * factor[1])
    elif _swaps_matrix(producer):
        attrs = (
            replace(attrs, transpose_a=not attrs.transpose_a)
            if which == "a"
            else replace(attrs, transpose_b=not attrs.transpose_b)
        )
    else:
        return None
    moved = replace(operands, a=source) if which == "a" else replace(operands, b=source)
    sources = (*producer.sources, *node.sources)
    return replace_node(graph, replace(node, attrs=attrs, inputs=moved.names(), sources=sources))


def _product(graph: Graph, node: Node) -> Graph | None:
    """Rule 2 for the result, `node` being the `Mul`."""
    factor = number_factor(graph, node)
    product = graph.producers.get(factor[0]) if factor is not None else None
    if factor is None or product is None or not isinstance(product.attrs, ops.MatMul):
        return None
    if graph.sole_consumer(factor[0]) is not node or graph.values[factor[0]].quant is not None:
        return None
    attrs = replace(product.attrs, scale=product.attrs.scale * factor[1])
    sources = (*product.sources, *node.sources)
    merged = replace(node, attrs=attrs, inputs=product.inputs, sources=sources)
    return replace_node(graph, merged)


def _factors(graph: Graph, node: Node) -> Graph | None:
    """Rule 3, `node` being the `Mul`."""
    if not isinstance(node.attrs, ops.Mul):
        return None
    for constant, name in either_way(node):
        product = graph.producers.get(name)
        if product is None or not isinstance(product.attrs, ops.MatMul):
            continue
        if not _is_one_a_matrix(graph, constant, node) or graph.sole_consumer(name) is not node:
            continue
        operands = product.attrs.Inputs.of(product.inputs)
        first, shape = graph.values.get(operands.a), graph.shape(name)
        if first is None or first.shape[:-2] != shape[:-2] or graph.values[name].quant is not None:
            continue
        builder = GraphBuilder.of(graph)
        scaled = replace(first, name=builder.fresh(f"{first.name}/scaled"), quant=None)
        builder.value(scaled)
        builder.node(scaled.name, node.attrs, (first.name, constant), (scaled.name,), node.sources)
        inputs = replace(operands, a=scaled.name).names()
        builder.put(replace(node, attrs=product.attrs, inputs=inputs, sources=product.sources))
        return builder.build()
    return None


def _is_one_a_matrix(graph: Graph, name: str, node: Node) -> bool:
    """Whether `name` is a constant with one number for each matrix of what `node` computes."""
    constant = graph.constants.get(name)
    if constant is None or graph.shape(node.output)[-2:] == (1, 1):
        return False
    rank = len(graph.shape(node.output))
    return 2 < len(constant.shape) <= rank and constant.shape[-2:] == (1, 1)


def number_factor(graph: Graph, node: Node) -> tuple[str, float] | None:
    """The value that a `Mul` multiplies by one number, and the number; else None."""
    if not isinstance(node.attrs, ops.Mul):
        return None
    for name, other in either_way(node):
        constant = graph.constants.get(name)
        if constant is None or constant.array.size != 1 or other not in graph.values:
            continue
        if graph.shape(other) == graph.shape(node.output):
            return other, float(constant.real().reshape(-1)[0])
    return None


def _swaps_matrix(node: Node) -> bool:
    if not isinstance(node.attrs, ops.Transpose):
        return False
    rank = len(node.attrs.perm)
    return rank >= 2 and node.attrs.perm == (*range(rank - 2), rank - 1, rank - 2)
