"""A trained network back to a graph: normalizations folded, weights as int8, steps learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from edgec.base.dtypes import Array
from edgec.finetune.layers import Layer
from edgec.finetune.network import Network
from edgec.finetune.pooled.weights import FoundWeights, TrainedWeights
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qparams import QuantParams


def trained(graph: Graph, network: Network, pools: Sequence[TrainedWeights]) -> Graph:
    """A graph with the constants of a network.

    Args:
        graph: the graph that training started from.
        network: in the state that is wanted.
        pools: its weights that are pooled or of few bits.
    """
    builder = GraphBuilder.of(graph)
    pooled = {each.layer.node.name: each for pool in pools for each in pool.found()}
    for node in graph.nodes:
        if node.name in network.layers:
            layer = network.layers[node.name]
            _put_layer(builder, node, layer, pooled.get(node.name))
        elif node.name in network.ranges:
            high = network.ranges[node.name].high
            builder.put(replace(node, attrs=ops.Clip(0.0, high)))
        elif constants := network.norm_constants(node):
            _put_norm(builder, node, network, constants)
    for each in network.roundings.values():
        each.found.put(builder, float(each.step.detach()))
    return builder.build()


def _put_layer(builder: GraphBuilder, node: Node, layer: Layer, found: FoundWeights | None) -> None:
    factor, bias = (_array(part) for part in layer.folded())
    if found is None:
        weight = _array(layer.weight).astype(np.float64)
        scaled = weight * factor.reshape(-1, *[1] * (weight.ndim - 1))
        name = builder.constant(f"{node.name}/weight", scaled.astype(np.float32))
    else:
        scale = tuple(float(each) for each in (factor * found.unit).astype(np.float32))
        name = builder.constant(
            f"{node.name}/weight",
            found.codes,
            QuantParams(scale, (0,) * len(scale), axis=0),
            pooled=found.pooled,
        )
    bias_name = builder.constant(f"{node.name}/bias", bias.astype(np.float32))
    builder.put(replace(node, inputs=ops.Weighted.Inputs(node.first, name, bias_name).names()))


def _put_norm(
    builder: GraphBuilder, node: Node, network: Network, constants: Sequence[str]
) -> None:
    names = {
        name: builder.constant(f"{node.name}/{name}", _array(network.constant(name)))
        for name in constants
    }
    builder.put(replace(node, inputs=tuple(names.get(name, name) for name in node.inputs)))


def _array(tensor: torch.Tensor) -> Array:
    return np.asarray(tensor.detach().cpu().numpy())
