"""One pass over a network: each layer is decided on outputs of compressed ones before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.weight_pool import WeightPool
from edgec.layererror.objective import Objective, plain_objective
from edgec.weightpool.assign import Assignment, assign
from edgec.weightpool.network import Course, Network, with_layer, with_weights
from edgec.weightpool.vectors import PoolLayer, pool_layer


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


Choose = Callable[[Graph, PoolLayer, Objective], Graph]
"""Choice of a layer's weights: takes the graph so far, the layer and its error; gives the graph
with them."""


def decide(network: Network, pools: Sequence[WeightPool], rng: np.random.Generator) -> Decided:
    """Pool the network's layers in order; fit those left alone to what they now read.

    Args:
        network: the network and its data.
        pools: the pool of each layer, in graph order.
        rng: picks output elements for the moments.
    """
    open_pools = iter(pools)
    objectives: list[Objective] = []
    assignments: list[Assignment] = []

    def choose(current: Graph, layer: PoolLayer, objective: Objective) -> Graph:
        changed, found = with_indices(current, layer, objective, next(open_pools))
        objectives.append(objective)
        assignments.append(found)
        return changed

    current = in_order(network, choose, rng)
    return Decided(current, tuple(objectives), tuple(assignments))


def with_indices(
    graph: Graph, layer: PoolLayer, objective: Objective, pool: WeightPool
) -> tuple[Graph, Assignment]:
    """The graph with indices into a pool for the weights of one layer, and what was chosen.

    Args:
        graph: REAL stage.
        layer: one of its layers.
        objective: the error of its output.
        pool: int8 vectors.
    """
    vectors = pool.vectors.astype(np.float64)
    found = assign(objective, vectors, layer.terms)
    changed = with_layer(graph, layer, pool, found, objective.bias(found.rows(vectors)))
    return changed, found


def in_order(network: Network, choose: Choose, rng: np.random.Generator) -> Graph:
    """Choose the weights of the network's layers in order; fit the others to what they now read.

    Args:
        network: the network and its data.
        choose: called for each layer of `network.choice`, in graph order.
        rng: picks output elements for the moments.

    Returns:
        REAL stage, nodes and values of the same names.
    """
    current = network.graph
    layers = {layer.node.name: layer for layer in network.choice.pooled}
    group = network.choice.pooled[0].weight.shape[2]
    course = Course(network) if network.data is not None else None
    begun = False
    for node in network.graph.nodes:
        layer = layers.get(node.name)
        if layer is not None:
            begun = True
            objective = course.objective(current, layer, rng) if course else plain_objective(layer)
            current = choose(current, layer, objective)
            if course:
                course.changed(current, layer)
        elif begun and course and _can_follow(network.graph, node):
            layer = pool_layer(network.graph, node, group)
            objective = course.objective(current, layer, rng)
            bias = objective.bias(objective.target)
            current = with_weights(current, layer, objective.target, bias)
            course.changed(current, layer)
    return current


def _can_follow(graph: Graph, node: Node) -> bool:
    """Whether a layer that is not pooled can make up for errors before it: one regression.

    Codes that a file has for its weights stay.
    """
    if isinstance(node.attrs, ops.Conv) and node.attrs.group > 1:
        return False
    if not isinstance(node.attrs, ops.Conv | ops.Gemm):
        return False
    weight = graph.constants.get(ops.layer_inputs(node).w)
    return weight is not None and weight.quant is None
