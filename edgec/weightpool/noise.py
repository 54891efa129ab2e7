"""What each pooled layer alone adds to what a network computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.options import Progress
from edgec.fitting.objective import Objective
from edgec.floatrun.activations import activations
from edgec.ir import ops
from edgec.ir.graph import Graph
from edgec.ir.weight_pool import WeightPool
from edgec.weightpool.assign import assign
from edgec.weightpool.codebook import integer_pool
from edgec.weightpool.network import Network, with_layer

SAMPLES = 64
"""Calibration samples that noise is measured on."""


def layer_noise(
    network: Network,
    objectives: Sequence[Objective],
    pools: Sequence[Array],
    progress: Progress,
) -> tuple[float, ...]:
    """The squared error of the outputs when one layer is pooled, for each layer that will be.

    Args:
        network: the network and its data.
        objectives: each layer's error when everything else is as it was.
        pools: float64 [S, G] of each layer.
        progress: told how many layers are done.

    Returns:
        Errors relative to the variance of the outputs over the samples.  Without data nothing can
        be measured, and layers count alike: 1.
    """
    layers = network.choice.pooled
    if network.data is None:
        return (1.0,) * len(layers)
    names = [_before_probabilities(network.graph, name) for name in network.graph.outputs]
    data = {name: x[:SAMPLES] for name, x in network.data.items()}
    wanted = _outputs(network.graph, names, data)
    found = []
    for number, (layer, objective, vectors) in enumerate(
        zip(layers, objectives, pools, strict=True)
    ):
        progress("measuring the noise of layers", number, len(layers))
        pool = WeightPool(integer_pool(vectors, layer.terms)[0])
        codes = pool.vectors.astype(np.float64)
        assignment = assign(objective, codes, layer.terms)
        bias = objective.bias(assignment.rows(codes))
        graph = with_layer(network.graph, layer, pool, assignment, bias)
        outputs = _outputs(graph, names, data)
        found.append(sum(map(_relative_error, outputs, wanted)))
    return tuple(found)


def _outputs(graph: Graph, names: Sequence[str], data: Mapping[str, Array]) -> list[Array]:
    """Some values of all samples, float64 [N, ...] each."""
    batches = [values for _, values in activations(graph, list(names), data)]
    return [np.concatenate([batch[name] for batch in batches]).astype(float) for name in names]


def _relative_error(found: Array, wanted: Array) -> float:
    power = float(np.sum((wanted - wanted.mean(axis=0)) ** 2))
    error = float(np.sum((found - wanted) ** 2))
    return error / power if power > 0 else error


def _before_probabilities(graph: Graph, name: str) -> str:
    """What a last Softmax or Sigmoid reads, of which probabilities near 1 hide the errors."""
    node = graph.producers.get(name)
    while node is not None and _follows_logits(node.attrs):
        name = node.first
        node = graph.producers.get(name)
    return name


def _follows_logits(attrs: object) -> bool:
    sigmoid = isinstance(attrs, ops.Unary) and attrs.kind is ops.UnaryKind.SIGMOID
    return sigmoid or isinstance(attrs, ops.Softmax | ops.Reshape)
