"""Layers that take biases and multipliers of 16 bits, and the graph that computes with them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array, frozen
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.weight_pool_graph import pooled_nodes
from edgec.ir.weighted import pooled_inputs, weights_of
from edgec.kernels.common.layer_end import requant31_of
from edgec.kernels.weightpool.decision import PoolFamily, PoolKernelConfig
from edgec.kernels.weightpool.decoded import decoded_fold
from edgec.kernels.weightpool.direct import direct_fold
from edgec.kernels.weightpool.neon.spec import centered_fold
from edgec.kernels.weightpool.plan.rounding import rounded_bias
from edgec.kernels.weightpool.short_numbers import ShortNumbers

MOST_ERROR = 1 / 8
"""Steps of an output that short numbers may move it by, before it is rounded.  So most outputs
keep their code, and the others take the next one."""
_CODE_RANGE = 255


def takes_short(graph: Graph, node: Node, config: PoolKernelConfig, shift: int = 0) -> bool:
    """Whether a layer takes short numbers: they hardly move its outputs.

    Args:
        graph: INTEGER stage, responses unscaled.
        node: pooled.
        config: its kernel.
        shift: k of `PoolRounding` that the kernel needs.
    """
    multiplier = graph.constants[pooled_inputs(node).multiplier].array
    if config.runtime_bits or multiplier.min() < 0:
        return False
    bias = rounded_bias(graph, node, shift)
    reach = _reach(graph, node, bias, shift)
    stored = bias + _fold(graph, node, config)
    numbers = ShortNumbers.near(stored, multiplier)
    moved = numbers.error(stored, multiplier, reach, requant31_of(node))
    return moved <= MOST_ERROR and numbers.fits(reach, stored)


def with_short_numbers(graph: Graph, configs: Mapping[str, PoolKernelConfig]) -> Graph:
    """The graph whose layers have the numbers that kernels with `short` store.

    Args:
        graph: INTEGER stage, rounding as the kernels need it.
        configs: kernels by name of the node.
    """
    builder = GraphBuilder.of(graph)
    for node in pooled_nodes(graph):
        config = configs.get(node.name)
        if config is None or not config.short:
            continue
        inputs, fold = pooled_inputs(node), _fold(graph, node, config)
        bias, multiplier = (graph.constants[name].array for name in (inputs.b, inputs.multiplier))
        numbers = ShortNumbers.near(bias + fold, multiplier)
        own = frozen(numbers.biases - fold, np.int32), frozen(numbers.multipliers, np.int32)
        changed = replace(
            inputs,
            b=builder.constant(f"{node.name}/bias", own[0]),
            multiplier=builder.constant(f"{node.name}/multiplier", own[1]),
        )
        builder.put(replace(node, inputs=changed.names()))
    return builder.build()


def _fold(graph: Graph, node: Node, config: PoolKernelConfig) -> Array:
    """Additions to a layer's biases that its kernel stores: int64 [O]."""
    match config.family:
        case PoolFamily.DECODE:
            return decoded_fold(graph, node)
        case PoolFamily.DIRECT:
            return direct_fold(graph, node)
        case PoolFamily.RESPONSES_NEON:
            return centered_fold(graph, node)
        case PoolFamily.RESPONSES:
            return np.zeros(graph.shape(pooled_inputs(node).b), np.int64)


def _reach(graph: Graph, node: Node, bias: Array, shift: int) -> Array:
    """No sum of the layer is further from 0: int64 [O]."""
    weights = np.abs(weights_of(graph, node).astype(np.int64)).reshape(len(bias), -1)
    indices = graph.constants[pooled_inputs(node).indices].array
    rounding = indices[0].size << shift
    return np.asarray(np.abs(bias) + _CODE_RANGE * weights.sum(axis=1) + rounding)
