"""Inputs without a batch axis in front get one: samples are counted on the first axis everywhere.

A model may take `[2, 1, 8]`, the states of two layers for a batch of 1, or `[49, 40]`, an image on
its own.  The graph then takes `[1, 2, 1, 8]`, and a reshape, which costs nothing on the target,
gives the model its own shape.
"""

from __future__ import annotations

from dataclasses import replace

from edgec.ir import ops
from edgec.ir.graph import Graph, GraphBuilder


def samples_first(graph: Graph) -> Graph:
    """The graph with inputs [1, ...].

    Args:
        graph: REAL stage, as imported; the shapes of its inputs are those of one sample.
    """
    builder = GraphBuilder.of(graph)
    for name in graph.inputs:
        value = graph.values[name]
        if value.shape[:1] != (1,):
            inner = builder.fresh(f"{name}/sample")
            builder.rewire(name, inner)
            builder.value(replace(value, name=inner))
            builder.value(replace(value, shape=(1, *value.shape)))
            builder.node(inner, ops.Reshape(value.shape), (name,), (inner,))
    return builder.build()
