"""Noise that each pooled layer alone adds to a network's outputs, with one term or several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.limits import MAX_TERMS
from edgec.base.options import Progress
from edgec.floatrun.activations import activations
from edgec.ir.graph import Graph
from edgec.ir.logits import before_probabilities
from edgec.ir.weight_pool import WeightPool
from edgec.layererror.objective import Objective
from edgec.weightpool.additive import closest
from edgec.weightpool.assign import assign
from edgec.weightpool.cluster import Cloud
from edgec.weightpool.codebook import integer_pool
from edgec.weightpool.network import Network, with_layer

SAMPLES = 64
"""Calibration samples that noise is measured on."""
VECTORS = 500
"""Vectors of a layer that errors of weights are measured on, about."""
_FITS = 3
_TINY = 1e-12


def layer_noise(
    network: Network,
    objectives: Sequence[Objective],
    pools: Sequence[Array],
    clouds: Sequence[Cloud],
    progress: Progress,
) -> list[list[float]]:
    """The squared error of the outputs when one layer is pooled, for each layer that will be.

    It is measured with one term.  That of more terms is taken to be less by as much as the error of
    the layer's weights is.

    Args:
        network: the network and its data.
        objectives: each layer's error when everything else is as it was.
        pools: float64 [S, G] of each layer.
        clouds: the weights of each layer, as they are clustered.
        progress: told how many layers are done.

    Returns:
        For each layer the error with one term, with two, and so on, relative to the variance of the
        outputs over the samples.  Without data nothing can be measured, and layers count alike.
    """
    with_one = _noise_of_one(network, objectives, pools, progress)
    found = []
    for noise, vectors, cloud in zip(with_one, pools, clouds, strict=True):
        errors = [weight_error(cloud, vectors, terms) for terms in range(1, MAX_TERMS + 1)]
        found.append([noise * error / max(errors[0], _TINY) for error in errors])
    return found


def weight_error(cloud: Cloud, vectors: Array, terms: int) -> float:
    """The mean squared error of some of the vectors of a layer, each the sum of a few of a pool."""
    step = -(-len(cloud.points) // VECTORS)
    points = cloud.points[::step]
    scale = 1.0 / math.sqrt(terms)
    for _ in range(_FITS):
        chosen = closest(points, vectors, np.full(len(points), scale), terms)
        sums = vectors[chosen].sum(axis=1)
        scale = max(float(np.sum(sums * points) / max(float(np.sum(sums**2)), _TINY)), _TINY)
    return float(np.mean((points - scale * sums) ** 2))


def _noise_of_one(
    network: Network,
    objectives: Sequence[Objective],
    pools: Sequence[Array],
    progress: Progress,
) -> list[float]:
    layers = network.choice.pooled
    if network.data is None:
        return [1.0] * len(layers)
    # Probabilities near 1 would hide the errors.
    names = [before_probabilities(network.graph, name) for name in network.graph.outputs]
    data = {name: x[:SAMPLES] for name, x in network.data.items()}
    wanted = _outputs(network.graph, names, data)
    found = []
    for number, (layer, objective, vectors) in enumerate(
        zip(layers, objectives, pools, strict=True)
    ):
        progress("measuring the noise of layers", number, len(layers))
        pool = WeightPool(integer_pool(vectors, 1)[0])
        codes = pool.vectors.astype(np.float64)
        assignment = assign(objective, codes, 1)
        bias = objective.bias(assignment.rows(codes))
        alone = replace(layer, terms=1)
        graph = with_layer(network.graph, alone, pool, assignment, bias)
        outputs = _outputs(graph, names, data)
        found.append(sum(map(_relative_error, outputs, wanted)))
    return found


def _outputs(graph: Graph, names: Sequence[str], data: Mapping[str, Array]) -> list[Array]:
    """Some values of all samples, float64 [N, ...] each."""
    batches = [values for _, values in activations(graph, list(names), data)]
    return [np.concatenate([batch[name] for batch in batches]).astype(float) for name in names]


def _relative_error(found: Array, wanted: Array) -> float:
    power = float(np.sum((wanted - wanted.mean(axis=0)) ** 2))
    error = float(np.sum((found - wanted) ** 2))
    return error / power if power > 0 else error
