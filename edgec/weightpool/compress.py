"""A network's weights into a pool, from first to last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import WeightPoolError
from edgec.base.options import Progress, WeightPoolOptions, no_progress
from edgec.floatrun.activations import checked_calibration
from edgec.ir.graph import Graph
from edgec.ir.weight_pool import WeightPool
from edgec.weightpool.assign import assign
from edgec.weightpool.cluster import cluster, joined, normalised
from edgec.weightpool.codebook import integer_pool
from edgec.weightpool.layers import choose_layers
from edgec.weightpool.network import Network, own_objectives
from edgec.weightpool.ranges import with_ranges
from edgec.weightpool.refine import refined_pool
from edgec.weightpool.report import CompressionReport
from edgec.weightpool.sequence import Decided, decide
from edgec.weightpool.summary import summarized

_FIRST_ROUNDS = 6
"""Refinements of the float pool before it is rounded."""


def compress_graph(
    graph: Graph,
    calibration: Mapping[str, Array] | None,
    options: WeightPoolOptions,
    progress: Progress = no_progress,
) -> tuple[Graph, CompressionReport]:
    """Replace the weights of a network by indices into a pool; see `compress_graphs`."""
    (result,) = compress_graphs([graph], [calibration], options, progress)
    return result


def compress_graphs(
    graphs: Sequence[Graph],
    calibrations: Sequence[Mapping[str, Array] | None],
    options: WeightPoolOptions,
    progress: Progress = no_progress,
) -> tuple[tuple[Graph, CompressionReport], ...]:
    """Replace the weights of several networks by indices into one pool.

    With calibration data, assignments and pool minimise the error of each layer's output, layer
    after layer on what the network computes as far as it is compressed; biases and the layers left
    alone make up for what remains.  Without data it is the error of the weights.

    Args:
        graphs: REAL stage, after `passes.pipeline.REAL_PASSES`.
        calibrations: for each graph float32 [N, ...] by graph input, or None.
        options: size of the pool, layers, effort.
        progress: told what is being done.

    Returns:
        For each graph, the pooled one (same node and value names) and a report.

    Raises:
        WeightPoolError: nothing to pool, weights that are pooled already or not finite, a pool
            larger than the number of vectors.
        ConfigError: calibration data that do not fit.
    """
    networks = tuple(
        Network(
            graph,
            None if data is None else checked_calibration(graph, data),
            choose_layers(graph, options),
        )
        for graph, data in zip(graphs, calibrations, strict=True)
    )
    _check_size(networks, options)
    rng = np.random.default_rng(options.seed)
    vectors = _float_pool(networks, options, rng, progress)
    steps = options.rounds * len(networks)
    for number in range(options.rounds):
        codes, _ = integer_pool(vectors)
        pool = WeightPool(codes)
        results: list[Decided] = []
        for index, network in enumerate(networks):
            progress("deciding layers", number * len(networks) + index, steps)
            results.append(decide(network, pool, rng))
        vectors = refined_pool(
            codes.astype(np.float64),
            [objective for result in results for objective in result.objectives],
            [found for result in results for found in result.assignments],
            signed=options.signed,
        )
    progress("choosing ranges")
    found = [
        with_ranges(network, result.graph, options.range_bits, rng)
        for network, result in zip(networks, results, strict=True)
    ]
    return tuple(
        (graph, summarized(network, graph, options))
        for network, graph in zip(networks, found, strict=True)
    )


def report_of(
    before: Graph,
    after: Graph,
    calibration: Mapping[str, Array] | None,
    options: WeightPoolOptions,
) -> CompressionReport:
    """The report of a network that changed after `compress_graph`, by fine-tuning.

    Args:
        before: what was compressed.
        after: what became of it; the same node and value names.
        calibration: calibration data, as for `compress_graphs`.
        options: the options of the compression.
    """
    data = None if calibration is None else checked_calibration(before, calibration)
    return summarized(Network(before, data, choose_layers(before, options)), after, options)


def _check_size(networks: Sequence[Network], options: WeightPoolOptions) -> None:
    vectors = sum(layer.vectors for network in networks for layer in network.choice.pooled)
    if vectors < options.size:
        raise WeightPoolError(
            f"a pool of {options.size} vectors is larger than the {vectors} vectors of the layers",
            where=", ".join(network.graph.name for network in networks),
            hint="take a smaller --pool-size, or pool more layers with --layers",
        )


def _float_pool(
    networks: Sequence[Network],
    options: WeightPoolOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> Array:
    """Clusters, then assignments and pool in turn, each layer on the float network's input."""
    layers = [layer for network in networks for layer in network.choice.pooled]
    progress("measuring layers")
    objectives = [each for network in networks for each in own_objectives(network, rng)]
    progress("clustering")
    cloud = joined([normalised(*pair) for pair in zip(layers, objectives, strict=True)])
    pool = cluster(cloud, options.size, options.signed, rng)
    for number in range(_FIRST_ROUNDS):
        progress("refining the pool", number, _FIRST_ROUNDS)
        found = [assign(objective, pool) for objective in objectives]
        pool = refined_pool(pool, objectives, found, signed=options.signed)
    return pool
