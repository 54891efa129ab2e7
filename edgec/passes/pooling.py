"""Averages over pixels and tokens as layers that the search of scales knows.

An average pool is a depthwise convolution whose weights are all the same.

Only for transformers, whose convolutions have the arithmetic that their graph is to have
throughout.

Rules:
1. average: `AveragePool` becomes a `Conv` with a group a channel and weights 1 / (KH * KW).  Where
   taps beyond the border do not count, a `Mul` by KH * KW / taps follows.

A mean over the variable axis is attention with one query that is zero.

Rules:
1. mean: ``x.mean(axis)`` over the rows of x [..., N, C], N being the variable axis, becomes the
   attention of a query of zeros to keys and values x.  All logits are 0, so all exponentials are
   equal, and attention divides by their sum: by the number of rows that there are, whatever it is.
   (A mean's own multiplier has 1/N in it.)

Sequence pooling is attention with one constant query.

Rules:
1. pool: ``softmax(x @ w + b) @ x`` over the rows of x [..., N, C], with w [C] and b constant
   (Hassani et al. 2021, "Escaping the Big Data Paradigm with Compact Transformers", section 3.2),
   becomes the attention of the query w to keys and values x: b is the same for every row, and the
   softmax does not see it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.ops import ReduceKind
from edgec.passes.edit import sweep, unreshaped


def average_by_convolution(graph: Graph) -> Graph:
    """Apply the rule to every average pool."""
    return sweep(graph, _average_as_convolution)


def _average_as_convolution(graph: Graph, node: Node) -> Graph | None:
    if not isinstance(node.attrs, ops.AveragePool):
        return None
    attrs, builder = node.attrs, GraphBuilder.of(graph)
    channels, taps = graph.shape(node.first)[-1], attrs.kernel[0] * attrs.kernel[1]
    weight = np.full((channels, *attrs.kernel, 1), 1.0 / taps, np.float32)
    name = builder.constant(f"{node.name}/weight", weight)
    conv = ops.Conv(attrs.strides, attrs.pads, attrs.dilations, channels)
    inputs = conv.Inputs(node.first, name).names()
    factors = taps / _counted(graph, node)
    if attrs.count_include_pad or (factors == 1.0).all():
        builder.put(replace(node, attrs=conv, inputs=inputs))
        return builder.build()
    sums = builder.value(replace(graph.values[node.output], name=builder.fresh(f"{node.name}/sum")))
    builder.node(f"{node.name}/sum", conv, inputs, (sums,), node.sources)
    scale = builder.constant(f"{node.name}/factors", factors.astype(np.float32))
    builder.put(replace(node, attrs=ops.Mul(), inputs=(sums, scale)))
    return builder.build()


def _counted(graph: Graph, node: Node) -> Array:
    """Taps inside the image of each output pixel; int64 [1, H, W, 1]."""
    attrs = node.attrs_as(ops.AveragePool)
    image, out = graph.shape(node.first)[1:3], graph.shape(node.output)[1:3]
    rows, columns = (_inside(attrs, axis, image[axis], out[axis]) for axis in (0, 1))
    return np.asarray(rows[:, None] * columns[None, :])[None, :, :, None]


def _inside(attrs: ops.AveragePool, axis: int, size: int, outputs: int) -> Array:
    """Taps inside the image along one axis; int64 [outputs]."""
    first = np.arange(outputs) * attrs.strides[axis] - attrs.pads[axis]
    read = first[:, None] + np.arange(attrs.kernel[axis]) * attrs.dilations[axis]
    return np.asarray(((read >= 0) & (read < size)).sum(axis=1))


def mean_by_attention(graph: Graph) -> Graph:
    """Apply the rule to every such mean of a graph of the REAL stage with a variable length."""
    builder = GraphBuilder.of(graph)
    for node in graph.nodes:
        if _fits(graph, node):
            _mean_as_attention(graph, node, builder)
    return builder.build()


def _fits(graph: Graph, node: Node) -> bool:
    attrs = node.attrs
    if not isinstance(attrs, ops.Reduce) or attrs.kind is not ReduceKind.MEAN:
        return False
    axis = graph.length.axes.get(node.first) if graph.length is not None else None
    shape = graph.shape(node.first)
    rows = len(shape) - 2
    return attrs.axes == (rows,) == (axis,) and shape[:rows] == (1,) * rows


def _mean_as_attention(graph: Graph, node: Node, builder: GraphBuilder) -> None:
    x = node.input
    result = graph.values[node.output]
    *lead, _, channels = graph.shape(x)
    shape = (*lead, 1, channels)
    query = builder.constant(f"{node.name}/query", np.zeros(shape, np.float32))
    pooled = replace(result, name=builder.fresh(f"{result.name}/pooled"), shape=shape)
    builder.value(pooled)
    attention = ops.Attention(heads=1, scale=1.0)
    inputs = attention.Inputs(query, x, x).names()
    builder.put(
        replace(
            node,
            attrs=attention,
            inputs=inputs,
            outputs=(pooled.name,),
        )
    )
    name = f"{node.name}/shape"
    builder.node(name, ops.Reshape(result.shape), (pooled.name,), (result.name,), node.sources)


def pooling_by_attention(graph: Graph) -> Graph:
    """Apply the rule to every sequence pooling."""
    return sweep(graph, _pooling_as_attention)


def _pooling_as_attention(graph: Graph, node: Node) -> Graph | None:
    if node.attrs != ops.MatMul():
        return None
    product = ops.MatMul.Inputs.of(node.inputs)
    softmax, x = graph.producers.get(product.a), product.b
    if softmax is None or softmax.attrs != ops.Softmax() or x not in graph.values:
        return None
    layer = graph.producers.get(unreshaped(graph, softmax.first))
    if layer is None or not isinstance(layer.attrs, ops.Gemm) or layer.first != x:
        return None
    weight = graph.constants[ops.Gemm.Inputs.of(layer.inputs).w]
    rows = graph.shape(x)
    if weight.shape[0] != 1 or graph.shape(softmax.output) != (*rows[:-2], 1, rows[-2]):
        return None
    if len(rows) < 3 or rows[:-2] != (1,) * (len(rows) - 2):
        return None
    builder = GraphBuilder.of(graph)
    query = weight.real().reshape(*rows[:-2], 1, rows[-1])
    name = builder.constant(f"{node.name}/query", np.ascontiguousarray(query))
    attention = ops.Attention(heads=1, scale=1.0)
    builder.put(replace(node, attrs=attention, inputs=attention.Inputs(name, x, x).names()))
    return builder.build()
