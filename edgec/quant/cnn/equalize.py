"""Cross-layer equalization: move magnitude between the channels of neighbouring layers.

Source: M. Nagel, M. van Baalen, T. Blankevoort, M. Welling, "Data-Free Quantization Through Weight
Equalization and Bias Correction", ICCV 2019, section 4.1.  Between two layers with a function f in
between that is positively homogeneous (f(s x) = s f(x) for s > 0), channel c of the first may be
divided by s_c and the weights of the second that read it multiplied by s_c.  With
``s_c = sqrt(r1_c / r2_c)``, r being the largest absolute weight, both have the same range.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.exact_functions import log
from edgec.ir import ops
from edgec.ir.graph import Graph, GraphBuilder, Node
from edgec.ir.ops import UnaryKind

_ROUNDS = 20
_SETTLED = 1e-3
"""Stop when no channel moves by more than this share."""
_DEAD = 1e-6
"""Channels below this share of a layer's largest weight are dead: lifting them helps nobody."""
_LAYERS = (ops.Conv, ops.Gemm)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two layers, the second reading the first through homogeneous functions alone."""

    first: Node
    second: Node


def equalize(graph: Graph) -> Graph:
    """Equalize every pair of neighbouring Conv or Gemm layers; the network computes the same.

    Layers with pinned (integer) weights, or whose weights other nodes read too, stay as they are.

    Args:
        graph: REAL stage, batch norms folded.
    """
    pairs = tuple(_pairs(graph))
    builder = GraphBuilder.of(graph)
    for _ in range(_ROUNDS):
        moved = [_equalize_pair(builder, pair) for pair in pairs]
        if max(moved, default=0.0) < _SETTLED:
            break
    return builder.build()


def can_equalize(graph: Graph) -> bool:
    """Whether `equalize` finds a pair of layers in a graph of the REAL stage."""
    return any(True for _ in _pairs(graph))


def _pairs(graph: Graph) -> Iterator[_Pair]:
    for node in graph.nodes:
        if not _may_scale(graph, node):
            continue
        reader = graph.sole_consumer(node.output)
        while reader is not None and _homogeneous(graph, reader):
            reader = graph.sole_consumer(reader.output)
        if reader is None or type(reader.attrs) is not type(node.attrs):
            continue
        if _may_scale(graph, reader):
            yield _Pair(node, reader)


def _may_scale(graph: Graph, node: Node) -> bool:
    """A layer with float weights of its own, whose input and output are not pinned."""
    if not isinstance(node.attrs, _LAYERS):
        return False
    inputs = ops.layer_inputs(node)
    constants = [graph.constants[name] for name in (inputs.w, inputs.b) if name]
    values = (graph.values[inputs.x], graph.values[node.output])
    return all(
        constant.quant is None and len(graph.consumers[constant.name]) == 1
        for constant in constants
    ) and all(value.quant is None for value in values)


def _homogeneous(graph: Graph, node: Node) -> bool:
    if graph.values[node.output].quant is not None:
        return False
    if isinstance(node.attrs, ops.Clip):
        return node.attrs.low == 0.0 and node.attrs.high == float("inf")
    if isinstance(node.attrs, ops.Unary):
        return node.attrs.kind is UnaryKind.LEAKY_RELU
    return isinstance(node.attrs, ops.PRelu)


def _equalize_pair(builder: GraphBuilder, pair: _Pair) -> float:
    """Scale one pair; the largest |log s|."""
    first = builder.constants[ops.layer_inputs(pair.first).w].array.astype(np.float64)
    second = builder.constants[ops.layer_inputs(pair.second).w].array.astype(np.float64)
    channels = input_channels(pair.second, second.shape)
    first_range = np.abs(first.reshape(len(first), -1)).max(axis=1)
    second_range = np.zeros(len(first))
    by_input = np.abs(second).reshape(second.shape[0], -1, second.shape[-1]).max(axis=1)
    np.maximum.at(second_range, channels, by_input)
    alive = (first_range > _DEAD * first_range.max()) & (second_range > _DEAD * second_range.max())
    ratio = np.divide(first_range, second_range, out=np.ones_like(first_range), where=alive)
    factor = np.sqrt(ratio)
    _scale_outputs(builder, pair.first, 1.0 / factor)
    spread = factor[channels].reshape(second.shape[0], *[1] * (second.ndim - 2), second.shape[-1])
    _store(builder, ops.layer_inputs(pair.second).w, second * spread)
    return float(np.max(np.abs(log(factor))))


def input_channels(node: Node, shape: tuple[int, ...]) -> Array:
    """Which input channel weight [o, ..., i] multiplies; int [O, I/group].

    Args:
        node: Conv or Gemm.
        shape: shape of its weights, [O, KH, KW, I/group] or [N, K].
    """
    group = node.attrs.group if isinstance(node.attrs, ops.Conv) else 1
    outputs, inputs = shape[0], shape[-1]
    first = np.arange(outputs) // (outputs // group) * inputs
    return np.asarray(first[:, None] + np.arange(inputs)[None, :])


def _scale_outputs(builder: GraphBuilder, node: Node, factor: Array) -> None:
    inputs = ops.layer_inputs(node)
    for name in (inputs.w, inputs.b):
        if name:
            array = builder.constants[name].array
            shaped = factor.reshape(-1, *[1] * (array.ndim - 1))
            _store(builder, name, array * shaped)


def _store(builder: GraphBuilder, name: str, array: Array) -> None:
    builder.constant(name, array.astype(np.float32), keep_name=True)
