"""The factor of a softmax out of the product before it.

A model quantized by a file has no codes for the product: it belongs to the softmax, as in the
TensorFlow Lite file that the model was written from.

Rule: a ``Softmax`` of a ``Mul`` of codes by one positive number becomes a ``Softmax`` with that
beta, where nothing else reads the product and the file pins no quantization to it.
"""

from __future__ import annotations

from dataclasses import replace

from edgec.ir import ops
from edgec.ir.graph import Graph, GraphBuilder, Node
from edgec.passes.edit import sweep


def fuse_beta(graph: Graph) -> Graph:
    """Apply the rule until it applies no more; each time takes an operator away."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    made = graph.producers.get(node.first) if node.attrs == ops.Softmax() else None
    if made is None or not isinstance(made.attrs, ops.Mul) or graph.values[node.first].quant:
        return None
    if graph.sole_consumer(node.first) is not node:
        return None
    shape = graph.shape(node.first)
    real = ops.Mul.Inputs.of(made.inputs)
    for x, factor in ((real.a, real.b), (real.b, real.a)):
        beta = _positive(graph, factor)
        value = graph.values.get(x)
        if beta is not None and value and value.quant is not None and value.shape == shape:
            builder = GraphBuilder.of(graph)
            builder.remove(made)
            sources = tuple(dict.fromkeys((*made.sources, *node.sources)))
            attrs = ops.Softmax(beta)
            builder.put(replace(node, attrs=attrs, inputs=(x,), sources=sources))
            return builder.build()
    return None


def _positive(graph: Graph, name: str) -> float | None:
    """The one number that a constant holds, if it is above 0."""
    constant = graph.constants.get(name)
    if constant is None or constant.array.size != 1:
        return None
    number = float(constant.real().reshape(-1)[0])
    return number if number > 0.0 else None
