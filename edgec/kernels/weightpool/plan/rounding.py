"""Error of a layer's outputs from rounded responses, and the limit of it.

Responses are multiples of the step g = 2^(8 - bits) of an activation, and rounding them by k bits
leaves one of 2^k / g remainders, all about equally likely.  Their mean is not zero, because ties
are rounded up: a response is g / 2 too large on average.  With few bits that is several steps of
an output, always in the same direction; so the bias of a layer is made smaller by it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array, frozen
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.weight_pool import added_up
from edgec.ir.weight_pool_graph import pooled_nodes
from edgec.ir.weighted import layer_terms, pooled_attrs, pooled_inputs
from edgec.kernels.common.layer_end import requant31_of

_STEPS_LIMIT = 2.0
"""Steps of an output that rounding may add, as a standard deviation over the filters of a layer."""
_SHARE_LIMIT = 0.5
"""Limit of rounding's error as a share of the error from rounding the activations."""


def rounding_steps(graph: Graph, node: Node, shift: int) -> float:
    """Standard deviation, in output steps, of what rounded responses add to an output.

    Args:
        graph: INTEGER stage.
        node: pooled.
        shift: k of `PoolRounding`.
    """
    step = _step(node)
    if 2**shift <= step:
        return 0.0
    variance = _look_ups(graph, node) * (4.0**shift - step**2) / 12
    return _rms(_gains(graph, node)) * math.sqrt(variance)


def rounds_too_much(graph: Graph, node: Node, shift: int) -> bool:
    """Whether a response shift would cost accuracy that is worth more than its speed."""
    steps = rounding_steps(graph, node, shift)
    return steps > max(_STEPS_LIMIT, _SHARE_LIMIT * _activation_steps(graph, node))


def with_rounding(graph: Graph, shifts: Mapping[str, int]) -> Graph:
    """The graph that rounds responses, and what it adds on average taken out of the biases.

    Args:
        graph: INTEGER stage, responses unscaled.
        shifts: k by name of the node, for every pooled node.
    """
    builder = GraphBuilder.of(graph)
    for node in pooled_nodes(graph):
        shift = shifts[node.name]
        attrs = pooled_attrs(node)
        rounding = replace(attrs.rounding, response_shift=shift)
        inputs = pooled_inputs(node)
        if _mean_excess(graph, node, shift):
            bias = frozen(rounded_bias(graph, node, shift), np.int32)
            inputs = replace(inputs, b=builder.constant(f"{node.name}/bias", bias))
        changed = replace(attrs, rounding=rounding)
        builder.put(replace(node, attrs=changed, inputs=inputs.names()))
    return builder.build()


def rounded_bias(graph: Graph, node: Node, shift: int) -> Array:
    """The biases of a layer without what rounding by `shift` adds on average: int64 [O]."""
    bias = graph.constants[pooled_inputs(node).b].array.astype(np.int64)
    return np.asarray(bias - _mean_excess(graph, node, shift))


def _mean_excess(graph: Graph, node: Node, shift: int) -> int:
    """Mean error that rounding adds to a sum of responses."""
    step = _step(node)
    return _look_ups(graph, node) * step // 2 if 2**shift > step else 0


def _look_ups(graph: Graph, node: Node) -> int:
    """Responses in the sum of one output: each term of a vector is rounded by itself."""
    return int(graph.constants[pooled_inputs(node).indices].array[0].size)


def _activation_steps(graph: Graph, node: Node) -> float:
    """Standard deviation of an output's error, in output steps, from rounding to `bits` bits."""
    inputs = pooled_inputs(node)
    pool, indices = (graph.constants[name].array for name in (inputs.pool, inputs.indices))
    vectors = added_up(pool, indices, layer_terms(graph, node)).astype(np.float64)
    per_filter = np.square(vectors).reshape(len(indices), -1).sum(axis=1)
    deviation = _step(node) * np.sqrt(per_filter / 12)
    return _rms(_gains(graph, node) * deviation)


def _step(node: Node) -> int:
    bits: int = pooled_attrs(node).rounding.activation_bits
    return 1 << (8 - bits)


def _gains(graph: Graph, node: Node) -> Array:
    """Output steps of one step of the accumulator, float64 [O]."""
    multiplier = graph.constants[pooled_inputs(node).multiplier].array.astype(np.float64)
    return np.asarray(multiplier / 2.0 ** requant31_of(node).shift)


def _rms(values: Array) -> float:
    return float(np.sqrt(np.square(values).mean()))
