"""Constants and reciprocals become part of the operators around them.

The factor of a softmax out of the product before it.

A model quantized by a file has no codes for the product: it belongs to the softmax, as in the
TensorFlow Lite file that the model was written from.

Rule: a ``Softmax`` of a ``Mul`` of codes by one positive number becomes a ``Softmax`` with that
beta, where nothing else reads the product and the file pins no quantization to it.

Make an added constant the bias of the convolution or dense layer before it.

`fold_batch_norm` does this for float weights; here it is done for weights that a QDQ model pinned
to integers, which may get a bias but must not change.

Rules:
1. add: Conv, ConvTranspose or Gemm without bias, then ``Add`` of a constant per channel: the
   constant becomes the bias.
2. codes: an int32 constant stays int32 with its scale (the quantizer takes it over exactly when the
   scale is input scale times weight scale); any other becomes real numbers.

Divisions out of the reciprocals that the importer writes them with.

A reciprocal rounded to 8 bits loses most of a quotient's digits; a division rounds once.

Rules:
1. quotient: ``Mul`` by a ``Reciprocal`` that nothing else reads becomes ``Div``.
2. root: the ``Reciprocal`` of a ``Sqrt`` that nothing else reads becomes ``Rsqrt``, unless it is
   part of a product: then rule 1 applies.

Neither applies where the file pins a quantization between the two.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.base.dtypes import DType
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.ops import UnaryKind
from edgec.passes.edit import sweep
from edgec.passes.linear import (
    channel_constant,
    either_way,
    fused,
    per_channel,
    unpinned_linear_before,
)


def fuse_beta(graph: Graph) -> Graph:
    """Apply the rule until it applies no more; each time takes an operator away."""
    return sweep(graph, _with_beta)


def _with_beta(graph: Graph, node: Node) -> Graph | None:
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


def fuse_bias(graph: Graph) -> Graph:
    """Apply the rules until none applies."""
    return sweep(graph, _with_bias)


def _with_bias(graph: Graph, node: Node) -> Graph | None:
    if not isinstance(node.attrs, ops.Add):
        return None
    for other, name in either_way(node):
        constant = channel_constant(graph, node, other, name)
        if constant is None:
            continue
        linear = unpinned_linear_before(graph, node, other)
        if linear is not None and ops.layer_inputs(linear).b is None:
            bias = _as_bias(constant, graph.shape(node.output)[-1])
            return fused(graph, linear, node, None, bias)
    return None


def _as_bias(constant: Constant, channels: int) -> Constant:
    quant = constant.quant
    if quant is None or constant.dtype is not DType.INT32:
        return Constant(constant.name, per_channel(constant, channels).astype(np.float32))
    codes = np.broadcast_to(constant.array.reshape(-1), (channels,))
    if quant.axis is not None:
        quant = replace(quant, axis=0) if len(quant.scale) == channels else quant
    return Constant(constant.name, codes, quant)


_RECIPROCAL = ops.Unary(UnaryKind.RECIPROCAL)
_ROOT = ops.Unary(UnaryKind.SQRT)


def fuse_division(graph: Graph) -> Graph:
    """Apply the rules until none applies; each takes an operator away."""
    return sweep(graph, _with_division)


def _with_division(graph: Graph, node: Node) -> Graph | None:
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
    """Producer of an unquantized value that only `reader` reads; else None."""
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
