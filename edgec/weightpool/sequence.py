"""One pass over a network: every layer decided on what the compressed layers before it compute."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from edgec.fitting.objective import Objective
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.weight_pool import WeightPool
from edgec.weightpool.assign import Assignment, assign
from edgec.weightpool.network import Network, objective_within, with_layer, with_weights
from edgec.weightpool.vectors import pool_layer


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """A network after a pass.

    Attributes:
        graph: REAL stage, pooled.
        objectives: objectives of the pooled layers, in graph order.
        assignments: assignments of the same layers.
    """

    graph: Graph
    objectives: tuple[Objective, ...]
    assignments: tuple[Assignment, ...]


def decide(network: Network, pool: WeightPool, rng: np.random.Generator) -> Decided:
    """Pool the network's layers in order; fit those left alone to what they now read.

    Args:
        network: the network and its data.
        pool: the vectors.
        rng: picks output elements for the moments.
    """
    current = network.graph
    pooled = {layer.node.name: layer for layer in network.choice.pooled}
    vectors = pool.vectors.astype(np.float64)
    objectives: list[Objective] = []
    assignments: list[Assignment] = []
    for node in network.graph.nodes:
        layer = pooled.get(node.name)
        if layer is not None:
            objective = objective_within(network, current, layer, rng)
            found = assign(objective, vectors)
            bias = objective.bias(found.rows(vectors))
            current = with_layer(current, layer, pool, found, bias)
            objectives.append(objective)
            assignments.append(found)
        elif assignments and network.data is not None and _can_follow(network.graph, node):
            layer = pool_layer(network.graph, node, pool.group)
            objective = objective_within(network, current, layer, rng)
            bias = objective.bias(objective.target)
            current = with_weights(current, layer, objective.target, bias)
    return Decided(current, tuple(objectives), tuple(assignments))


def _can_follow(graph: Graph, node: Node) -> bool:
    """Whether a layer that is not pooled can make up for errors before it: one regression."""
    if isinstance(node.attrs, ops.Conv) and node.attrs.group > 1:
        return False
    weighted = isinstance(node.attrs, ops.Conv | ops.Gemm)
    return weighted and ops.layer_inputs(node).w in graph.constants
