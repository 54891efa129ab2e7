"""An average pool is a depthwise convolution whose weights are all the same.

Only for transformers, whose convolutions have the arithmetic that their graph is to have
throughout.

Rules:
1. average: `AveragePool` becomes a `Conv` with a group a channel and weights 1 / (KH * KW).  Where
   taps beyond the border do not count, a `Mul` by KH * KW / taps follows.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Graph, GraphBuilder, Node
from edgec.passes.edit import sweep


def average_by_convolution(graph: Graph) -> Graph:
    """Apply the rule to every average pool."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
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
