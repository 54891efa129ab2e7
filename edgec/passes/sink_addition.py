"""Add position embeddings where tokens are computed, so that the layer before can do it.

Only for transformers, whose integer layers add to the stream at no cost.

Rules:
1. reshape: the addition of a constant to a ``Reshape`` becomes the ``Reshape`` of an addition.
2. concat: the addition of a constant to a ``Concat`` along one axis becomes the ``Concat`` of
   additions; to parts that are constants (a class token) it is added at once.

The constant has the shape of the sum; what it is added to is read by nothing else.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.passes.edit import sweep


def sink_addition(graph: Graph) -> Graph:
    """Apply both rules until neither applies; additions move towards the inputs."""
    return sweep(graph, _rewrite)


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    if not isinstance(node.attrs, ops.Add) or graph.values[node.output].quant is not None:
        return None
    constants = [name for name in node.inputs if name in graph.constants]
    values = [name for name in node.inputs if name in graph.values]
    if len(constants) != 1 or len(values) != 1:
        return None
    mover, constant = graph.producers.get(values[0]), graph.constants[constants[0]]
    fits = constant.shape == graph.shape(node.output) == graph.shape(values[0])
    if mover is None or not fits or graph.sole_consumer(values[0]) is not node:
        return None
    if any(graph.values[n].quant is not None for n in (*values, mover.first) if n in graph.values):
        return None
    if isinstance(mover.attrs, ops.Reshape):
        return _reshape(graph, node, mover, constant.real())
    if isinstance(mover.attrs, ops.Concat):
        return _concat(graph, node, mover, constant.real())
    return None


def _reshape(graph: Graph, node: Node, mover: Node, constant: Array) -> Graph:
    builder = GraphBuilder.of(graph)
    source = mover.first
    total = _added(builder, graph, node, source, constant.reshape(graph.shape(source)))
    builder.put(replace(mover, inputs=(total,), outputs=node.outputs))
    builder.remove(node)
    return builder.build()


def _concat(graph: Graph, node: Node, mover: Node, constant: Array) -> Graph:
    builder = GraphBuilder.of(graph)
    axis = mover.attrs_as(ops.Concat).axis
    ends = np.cumsum([graph.shape(name)[axis] for name in mover.inputs])
    parts = np.split(constant, ends[:-1], axis=axis)
    totals = []
    for name, part in zip(mover.inputs, parts, strict=True):
        if name in graph.constants:
            moved = graph.constants[name].real() + part
            totals.append(builder.constant(f"{name}/moved", moved.astype(np.float32)))
        else:
            totals.append(_added(builder, graph, node, name, part))
    builder.put(replace(mover, inputs=tuple(totals), outputs=node.outputs))
    builder.remove(node)
    return builder.build()


def _added(builder: GraphBuilder, graph: Graph, node: Node, value: str, constant: Array) -> str:
    """Add a node that adds a constant to a value; its output."""
    stem = builder.fresh(f"{value}/moved")
    builder.value(replace(graph.values[value], name=stem))
    part = builder.constant(f"{node.name}/part", np.ascontiguousarray(constant, np.float32))
    builder.node(f"{value}/add", ops.Add(), (value, part), (stem,), node.sources)
    return stem
