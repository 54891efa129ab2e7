"""Tools of passes that fold into convolutions and dense layers: per-channel operands, edits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph, Node
from edgec.ir.graph_builder import GraphBuilder


@dataclass(frozen=True, slots=True, eq=False)
class Affine:
    """``y = scale * x + shift`` per channel of the last axis; float64 [C] each."""

    scale: Array
    shift: Array


def either_way(node: Node) -> tuple[tuple[str, str], tuple[str, str]]:
    """The operands (a, b) of an operator on pairs of elements, and (b, a)."""
    inputs = ops.Arithmetic.Inputs.of(node.inputs)
    return (inputs.a, inputs.b), (inputs.b, inputs.a)


def channel_constant(graph: Graph, node: Node, other: str, name: str) -> Constant | None:
    """An operand of an operator on pairs when it is one number per channel of the last axis.

    Args:
        graph: holds the node.
        node: the operator.
        other: its other operand.
        name: the operand.

    Returns:
        The constant, or None when it is a value, varies along other axes, or widens the output.
    """
    constant = graph.constants.get(name)
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


def affine_of(graph: Graph, node: Node) -> tuple[Affine, str] | None:
    """A per-channel scaling and shift, and the value it is applied to; else None."""
    if isinstance(node.attrs, ops.BatchNormalization):
        return batch_norm_affine(graph, node), node.first
    if not isinstance(node.attrs, ops.Mul | ops.Add | ops.Sub):
        return None
    pairs = either_way(node)
    for other, name in pairs[:1] if isinstance(node.attrs, ops.Sub) else pairs:
        constant = channel_constant(graph, node, other, name)
        if constant is None:
            continue
        values = per_channel(constant, graph.shape(node.output)[-1])
        ones, zeros = np.ones_like(values), np.zeros_like(values)
        match node.attrs:
            case ops.Mul():
                return Affine(values, zeros), other
            case ops.Add():
                return Affine(ones, values), other
            case _:
                return Affine(ones, -values), other
    return None


def batch_norm_affine(graph: Graph, node: Node) -> Affine:
    """Scale and shift by channel that a `BatchNormalization` computes."""
    channels = graph.shape(node.output)[-1]
    inputs = ops.BatchNormalization.Inputs.of(node.inputs)
    scale, bias, mean, variance = (
        per_channel(graph.constants[name], channels)
        for name in (inputs.scale, inputs.b, inputs.mean, inputs.var)
    )
    factor = scale / np.sqrt(variance + node.attrs_as(ops.BatchNormalization).epsilon)
    return Affine(factor, bias - mean * factor)


def unpinned_linear_before(graph: Graph, node: Node, name: str) -> Node | None:
    """The Conv, ConvTranspose or Gemm that computes `name` for `node` alone, unrounded."""
    producer = graph.producers.get(name)
    if producer is None or not isinstance(producer.attrs, ops.Weighted):
        return None
    if graph.sole_consumer(name) is not node or graph.values[name].quant is not None:
        return None
    return producer


def has_float_weights(graph: Graph, node: Node) -> bool:
    """Whether weights and bias may be changed: neither is pinned to integers."""
    inputs = ops.layer_inputs(node)
    return all(graph.constants[n].quant is None for n in (inputs.w, inputs.b) if n is not None)


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
    inputs = ops.layer_inputs(linear)
    w = inputs.w
    if isinstance(weight, Constant):
        w = builder.constant(weight.name, weight.array, weight.quant, pooled=weight.pooled)
    elif weight is not None:
        w = builder.constant(inputs.w, weight.astype(np.float32))
    if isinstance(bias, Constant):
        b = builder.constant(bias.name, bias.array, bias.quant)
    else:
        b = builder.constant(inputs.b or f"{linear.name}/bias", bias.astype(np.float32))
    names = ops.Weighted.Inputs(inputs.x, w, b).names()
    builder.remove(follower)
    sources = (*linear.sources, *follower.sources)
    builder.put(replace(linear, inputs=names, outputs=follower.outputs, sources=sources))
    return builder.build()
