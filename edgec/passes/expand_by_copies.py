"""Repetition of real numbers: left to operators that broadcast, else written as copies.

Rules:
1. broadcast: an `Expand` goes where its only reader broadcasts to the same shape without it.
2. copies: any other `Expand` of real numbers copies cells, as a `Resize` to the nearest cell does:
   the axes before the one that grows are its rows, that axis its columns, those after its channels.
"""

from __future__ import annotations

import math
from dataclasses import replace

from edgec.base.dtypes import DType
from edgec.base.errors import ImportModelError
from edgec.ir import ops
from edgec.ir.graph import Graph, Node, Value
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.infer import infer_shape
from edgec.passes.edit import sweep

_BROADCAST = (ops.Arithmetic, ops.Where)


def expand_by_copies(graph: Graph) -> Graph:
    """Apply the rules until none applies; each takes an Expand away."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    if not isinstance(node.attrs, ops.Expand):
        return None
    if graph.values[node.output].dtype is not DType.FLOAT32:
        return None
    return _left_out(graph, node) or _copied(graph, node)


def _left_out(graph: Graph, node: Node) -> Graph | None:
    reader = graph.sole_consumer(node.output)
    if reader is None or not isinstance(reader.attrs, _BROADCAST):
        return None
    if graph.values[node.output].quant is not None:
        return None
    inputs = tuple(node.first if name == node.output else name for name in reader.inputs)
    builder = GraphBuilder.of(graph)
    builder.put(replace(reader, inputs=inputs))
    builder.remove(node)
    try:
        shape = infer_shape(reader.attrs, [graph.tensor(name).shape for name in inputs])
    except ImportModelError:
        return None
    return builder.build() if shape == graph.shape(reader.output) else None


def _copied(graph: Graph, node: Node) -> Graph:
    shape, wanted = graph.shape(node.first), graph.shape(node.output)
    shape = (1,) * (len(wanted) - len(shape)) + shape
    builder = GraphBuilder.of(graph)
    builder.remove(node)
    name = node.first
    for axis, size in reversed(list(enumerate(wanted))):
        if shape[axis] != size:
            image = (1, math.prod(shape[:axis]), 1, math.prod(shape[axis + 1 :]))
            name = _added(builder, node, ops.Reshape(image), name, image)
            grown = (*image[:2], size, image[3])
            name = _added(builder, node, _repetition(image[1], size), name, grown)
            shape = (*shape[:axis], size, *shape[axis + 1 :])
    kept = graph.values[node.output]
    builder.value(kept)
    builder.node(node.name, ops.Reshape(wanted), (name,), (kept.name,), node.sources)
    return builder.build()


def _repetition(rows: int, times: int) -> ops.Resize:
    own, zeros = tuple(range(rows)), (0,) * times
    weights = (0.0,) * rows, (0.0,) * times
    return ops.Resize(ops.ResizeMode.NEAREST, own, own, weights[0], zeros, zeros, weights[1])


def _added(
    builder: GraphBuilder,
    node: Node,
    attrs: ops.Reshape | ops.Resize,
    source: str,
    shape: tuple[int, ...],
) -> str:
    name = builder.fresh(f"{node.output}/copies")
    builder.value(Value(name, shape))
    builder.node(name, attrs, (source,), (name,), node.sources)
    return name
