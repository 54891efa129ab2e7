"""One pass over a network: each layer is decided on outputs of compressed ones before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edgec.fitting.objective import Objective, plain_objective
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.weight_pool import WeightPool
from edgec.weightpool.assign import Assignment, assign
from edgec.weightpool.network import Course, Network, with_layer, with_weights
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


def decide(network: Network, pools: Sequence[WeightPool], rng: np.random.Generator) -> Decided:
    """Pool the network's layers in order; fit those left alone to what they now read.

    Args:
        network: the network and its data.
        pools: the pool of each layer, in graph order.
        rng: picks output elements for the moments.
    """
    current = network.graph
    layers = network.choice.pooled
    pooled = {each[0].node.name: each for each in zip(layers, pools, strict=True)}
    course = Course(network) if network.data is not None else None
    objectives: list[Objective] = []
    assignments: list[Assignment] = []
    for node in network.graph.nodes:
        if node.name in pooled:
            layer, pool = pooled[node.name]
            vectors = pool.vectors.astype(np.float64)
            objective = course.objective(current, layer, rng) if course else plain_objective(layer)
            found = assign(objective, vectors, layer.terms)
            bias = objective.bias(found.rows(vectors))
            current = with_layer(current, layer, pool, found, bias)
            if course:
                course.changed(current, layer)
            objectives.append(objective)
            assignments.append(found)
        elif assignments and course and _can_follow(network.graph, node):
            layer = pool_layer(network.graph, node, pools[0].group)
            objective = course.objective(current, layer, rng)
            bias = objective.bias(objective.target)
            current = with_weights(current, layer, objective.target, bias)
            course.changed(current, layer)
    return Decided(current, tuple(objectives), tuple(assignments))


def _can_follow(graph: Graph, node: Node) -> bool:
    """Whether a layer that is not pooled can make up for errors before it: one regression."""
    if isinstance(node.attrs, ops.Conv) and node.attrs.group > 1:
        return False
    weighted = isinstance(node.attrs, ops.Conv | ops.Gemm)
    return weighted and ops.layer_inputs(node).w in graph.constants
