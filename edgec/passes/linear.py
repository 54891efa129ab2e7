"""What passes that fold into convolutions and dense layers share: per-channel operands, edits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph, GraphBuilder, Node

LINEAR = (ops.Conv, ops.ConvTranspose, ops.Gemm)
"""Operators with weights [O, ...] whose last output axis is O."""


@dataclass(frozen=True, slots=True, eq=False)
class Affine:
    """``y = scale * x + shift`` per channel of the last axis; float64 [C] each."""

    scale: Array
    shift: Array


def channel_constant(graph: Graph, node: Node, index: int) -> Constant | None:
    """Input `index` of a binary operator when it is one number per channel of the last axis.

    Returns:
        The constant, or None when it is a value, varies along other axes, or widens the output.
    """
    constant = graph.constants.get(node.inputs[index])
    other = node.inputs[1 - index]
    if constant is None or graph.is_constant(other):
        return None
    shape = graph.shape(other)
    if graph.shape(node.output) != shape or not shape:
        return None
    sizes = constant.shape
    if any(size != 1 for size in sizes[:-1]) or (sizes and sizes[-1] not in (1, shape[-1])):
        return None
    return constant


def per_channel(constant: Constant, channels: int) -> Array:
    """The real values of a `channel_constant`; float64 [channels]."""
    values = constant.real().astype(np.float64).reshape(-1)
    return np.broadcast_to(values, (channels,)).copy()


def unpinned_linear_before(graph: Graph, node: Node, name: str) -> Node | None:
    """The Conv, ConvTranspose or Gemm that computes `name` for `node` alone, unrounded."""
    producer = graph.producers.get(name)
    if producer is None or not isinstance(producer.attrs, LINEAR):
        return None
    if graph.sole_consumer(name) is not node or graph.values[name].quant is not None:
        return None
    return producer


def has_float_weights(graph: Graph, node: Node) -> bool:
    """Whether weights and bias may be changed: neither is pinned to integers."""
    return all(graph.constants[name].quant is None for name in node.inputs[1:3] if name != "")


def bias_of(node: Node) -> str:
    """Name of the bias constant of a linear node, "" when it has none."""
    return node.inputs[2] if len(node.inputs) > 2 else ""


def fused(
    graph: Graph,
    linear: Node,
    follower: Node,
    weight: Array | Constant | None,
    bias: Array | Constant,
) -> Graph:
    """`linear` with new parameters in place of itself and `follower`.

    Args:
        graph: holds both.
        linear: the Conv, ConvTranspose or Gemm.
        follower: its only reader; its output is kept.
        weight: new weights, None for the present ones.
        bias: new bias [O].
    """
    builder = GraphBuilder.of(graph)
    names = [*linear.inputs[:2], ""]
    if isinstance(weight, Constant):
        names[1] = builder.constant(weight.name, weight.array, weight.quant, pooled=weight.pooled)
    elif weight is not None:
        names[1] = builder.constant(linear.inputs[1], weight.astype(np.float32))
    if isinstance(bias, Constant):
        names[2] = builder.constant(bias.name, bias.array, bias.quant)
    else:
        stem = bias_of(linear) or f"{linear.name}/bias"
        names[2] = builder.constant(stem, bias.astype(np.float32))
    builder.remove(follower)
    sources = (*linear.sources, *follower.sources)
    builder.put(replace(linear, inputs=tuple(names), outputs=follower.outputs, sources=sources))
    return builder.build()
