"""Tensors that are joined although one reaches much further than another.

A Concat moves codes, so all of its parts have one scale, and a part that is a thousand times
smaller than another keeps none.  Factors between layers (`balance`) cannot help where no layer
computes the part: an input, a sum, a function.  Such a part gets a layer of its own, a depthwise
one whose weights are 1, which takes factors as every layer does; what reads the joined tensor takes
the reciprocals.  Where no factor pays, nothing is inserted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.passes.fold_batch_norm import fold_batch_norm
from edgec.quant.cnn.channel_classes import FIXED, channel_classes
from edgec.quant.common.statistics import channel_statistics

_UNEVEN = 16.0
"""A part that reaches less far than the joined tensor by this factor has 4 bits or fewer."""

Part = tuple[str, str]
"""A Concat, and a tensor that it reads."""


def joined_parts(graph: Graph) -> tuple[Part, ...]:
    """The parts of joined tensors that no layer before them can scale.

    Args:
        graph: REAL stage, batch norms folded.
    """
    scaled = scaled_values(graph)
    return tuple(part for part in _parts(graph) if part[1] not in scaled)


def scaled_values(graph: Graph) -> frozenset[str]:
    """The values whose channels layers can scale.

    Args:
        graph: REAL stage, batch norms folded.
    """
    found = channel_classes(graph).classes
    return frozenset(name for name, classes in found.items() if (classes != FIXED).any())


def uneven_parts(graph: Graph, data: Mapping[str, Array]) -> tuple[Part, ...]:
    """The parts that reach much less far than the tensors to which they are joined.

    Args:
        graph: REAL stage, batch norms folded.
        data: graph input name to float32 [N, ...]; all of it is used.
    """
    parts = _parts(graph)
    if not parts:
        return ()
    wholes = {node.name: node.output for node in graph.nodes}
    names = dict.fromkeys(name for join, part in parts for name in (wholes[join], part))
    reach = {
        name: float(np.maximum(found.high, -found.low).max())
        for name, found in channel_statistics(graph, names, data).items()
    }
    return tuple(
        (join, part)
        for join, part in parts
        if part in reach and 0.0 < reach[part] * _UNEVEN < reach[wholes[join]]
    )


def _parts(graph: Graph) -> tuple[Part, ...]:
    return tuple(
        (node.name, part)
        for node in graph.nodes
        if isinstance(node.attrs, ops.Concat) and _by_channel(graph, node)
        for part in dict.fromkeys(node.inputs)
        if part in graph.values
    )


def _by_channel(graph: Graph, node: Node) -> bool:
    axis, rank = node.attrs_as(ops.Concat).axis, len(graph.shape(node.output))
    pinned = any(graph.values[n].quant for n in (*node.inputs, node.output) if n in graph.values)
    return rank > 1 and axis % rank == rank - 1 and not pinned


def with_layers(graph: Graph, parts: Sequence[Part]) -> tuple[Graph, dict[Part, str]]:
    """The graph with a layer before some parts.

    Args:
        graph: REAL stage.
        parts: those that get one.

    Returns:
        The graph, and the tensor that takes the place of each part.
    """
    builder = GraphBuilder.of(graph)
    made: dict[Part, str] = {}
    for join, part in parts:
        value = graph.values[part]
        name = builder.value(replace(value, name=builder.fresh(f"{part}/alone")))
        ones, zeros = np.ones(value.shape[-1], np.float32), np.zeros(value.shape[-1], np.float32)
        numbers = [builder.constant(f"{name}/{i}", a) for i, a in enumerate((ones, zeros) * 2)]
        inputs = ops.BatchNormalization.Inputs(part, numbers[0], numbers[1], numbers[3], numbers[2])
        current = builder.nodes[join]
        norm = ops.BatchNormalization(epsilon=0.0)
        builder.node(name, norm, inputs, (name,), current.sources)
        names = tuple(name if each == part else each for each in current.inputs)
        builder.put(replace(current, inputs=names))
        made[join, part] = name
    return fold_batch_norm(builder.build()), made
