"""Tensors that are joined although one reaches much further than another.

A Concat moves codes, so all of its parts have one scale, and a part that is a thousand times
smaller than another keeps none.  Factors between layers (`balance`) cannot help where no layer
computes the part: an input, a sum, a function.  Such a part gets a layer of its own, a depthwise
one whose weights are 1, which takes factors as every layer does; what reads the joined tensor takes
the reciprocals: a layer, or factors and summands by channel, which become a depthwise layer.  Where
no factor pays, nothing is inserted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.passes.edit import on_last_axis
from edgec.passes.fold_batch_norm import fold_batch_norm, layer_of_ones, norm_operands
from edgec.passes.linear import Affine, either_way, per_channel
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
        if isinstance(node.attrs, ops.Concat) and _is_free(graph, node)
        for part in dict.fromkeys(node.inputs)
        if part in graph.values
    )


def _is_free(graph: Graph, node: Node) -> bool:
    """Whether real numbers are joined, none of them pinned to codes."""
    names = (*node.inputs, node.output)
    values = [graph.values[name] for name in names if name in graph.values]
    return all(value.dtype is DType.FLOAT32 and value.quant is None for value in values)


def with_readers(graph: Graph, joins: Collection[str]) -> Graph:
    """The graph with layers in place of factors and summands by channel that read joined tensors.

    Args:
        graph: REAL stage, batch norms folded.
        joins: names of Concats.
    """
    builder = GraphBuilder.of(graph)
    wholes = {n.output for n in graph.nodes if n.name in joins and _is_free(graph, n)}
    for node in graph.nodes:
        for whole in wholes & {*node.inputs}:
            found = _affine_along(graph, node, whole)
            if found is not None:
                affine, axis = found
                _normalize(builder, node, whole, axis, affine)
    return fold_batch_norm(builder.build())


def _affine_along(graph: Graph, node: Node, x: str) -> tuple[Affine, int] | None:
    """Factors or summands of x along one axis, and that axis; None where a node is no such."""
    if not isinstance(node.attrs, ops.Mul | ops.Add | ops.Sub):
        return None
    pairs = dict(either_way(node)[: 1 if isinstance(node.attrs, ops.Sub) else 2])
    constant, shape = graph.constants.get(pairs.get(x, "")), graph.shape(node.output)
    if constant is None or graph.shape(x) != shape:
        return None
    sizes = (*[1] * (len(shape) - len(constant.shape)), *constant.shape)
    axes = [axis for axis, size in enumerate(sizes) if size != 1] or [len(shape) - 1]
    if len(axes) != 1:
        return None
    values = per_channel(constant, shape[axes[0]])
    ones, zeros = np.ones_like(values), np.zeros_like(values)
    sign = -1.0 if isinstance(node.attrs, ops.Sub) else 1.0
    is_factor = isinstance(node.attrs, ops.Mul)
    return Affine(values, zeros) if is_factor else Affine(ones, sign * values), axes[0]


def _normalize(builder: GraphBuilder, node: Node, x: str, axis: int, affine: Affine) -> None:
    """Put ``x * scale + shift``, which layers can be made of, in place of a node."""
    numbers = norm_operands(builder, node.output, affine)
    norm = ops.BatchNormalization(epsilon=0.0)
    on_last_axis(builder, node, norm, x, (axis,), numbers)


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
        current = builder.nodes[join]
        name = layer_of_ones(builder, graph.values[part], current.sources)
        names = tuple(name if each == part else each for each in current.inputs)
        builder.put(replace(current, inputs=names))
        made[join, part] = name
    return fold_batch_norm(builder.build()), made
