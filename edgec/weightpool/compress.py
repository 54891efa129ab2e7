"""A network's weights into a pool, from first to last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.options import Progress, WeightPoolOptions, no_progress
from edgec.floatrun.activations import checked_calibration
from edgec.ir.graph import Graph
from edgec.ir.weight_pool import WeightPool
from edgec.layererror.objective import Objective
from edgec.weightpool.assign import Assignment, assign
from edgec.weightpool.cluster import Cloud, cluster, joined, normalised
from edgec.weightpool.codebook import integer_pool
from edgec.weightpool.network import Network, own_objectives
from edgec.weightpool.noise import layer_noise
from edgec.weightpool.ranges import with_ranges
from edgec.weightpool.refine import refined_pool
from edgec.weightpool.report import CompressionReport
from edgec.weightpool.sequence import Decided, decide
from edgec.weightpool.sharing import Part, parts_of
from edgec.weightpool.summary import summarized
from edgec.weightpool.terms import chosen_layers, spent

_Pool = TypeVar("_Pool", Array, WeightPool)

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
    """Replace the weights of several networks by indices into pools: one, or one for each part.

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
            chosen_layers(graph, options),
        )
        for graph, data in zip(graphs, calibrations, strict=True)
    )
    rng = np.random.default_rng(options.seed)
    networks, of_layers = _settled(networks, options, rng, progress)
    steps = options.rounds * len(networks)
    results: list[Decided] = []
    for index, network in enumerate(networks):
        progress("deciding layers", steps - len(networks) + index, steps)
        results.append(decide(network, [next(of_layers) for _ in network.choice.pooled], rng))
    progress("choosing ranges")
    found = [
        with_ranges(network, result.graph, options.range_bits, rng)
        for network, result in zip(networks, results, strict=True)
    ]
    return tuple(
        (graph, summarized(network, graph, options))
        for network, graph in zip(networks, found, strict=True)
    )


def pool_of(network: Network, options: WeightPoolOptions, progress: Progress) -> WeightPool:
    """The pool that all chosen layers of a network share.

    Args:
        network: float, its chosen layers in vectors of the options' length.
        options: size of the pool, effort, seed.
        progress: told what is being done.

    Raises:
        WeightPoolError: the layers have fewer vectors than the pool.
    """
    rng = np.random.default_rng(options.seed)
    return next(_settled((network,), options, rng, progress)[1])


def _settled(
    networks: tuple[Network, ...],
    options: WeightPoolOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[tuple[Network, ...], Iterator[WeightPool]]:
    """The networks with the terms of their layers, and the pool of each layer in turn.

    Assignments and pools are refined in turn, in all rounds but the last one, which is the pass
    that decides.
    """
    parts = parts_of(networks, options)
    networks, vectors = _first_pools(networks, parts, options, rng, progress)
    steps = options.rounds * len(networks)
    for number in range(options.rounds - 1):
        pools = _rounded(vectors, networks, parts)
        of_layers = _by_layer(pools, parts)
        results: list[Decided] = []
        for index, network in enumerate(networks):
            progress("deciding layers", number * len(networks) + index, steps)
            own = [next(of_layers) for _ in network.choice.pooled]
            results.append(decide(network, own, rng))
        vectors = _refined(
            [pool.vectors.astype(np.float64) for pool in pools],
            parts,
            [objective for result in results for objective in result.objectives],
            [found for result in results for found in result.assignments],
            signed=options.signed,
        )
    return networks, _by_layer(_rounded(vectors, networks, parts), parts)


def _rounded(
    vectors: Sequence[Array], networks: Sequence[Network], parts: Sequence[Part]
) -> list[WeightPool]:
    """Pools of int8 vectors."""
    return [
        WeightPool(integer_pool(each, _most_terms(networks, part))[0])
        for each, part in zip(vectors, parts, strict=True)
    ]


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
    return summarized(Network(before, data, chosen_layers(before, options)), after, options)


def _most_terms(networks: Sequence[Network], part: Part) -> int:
    """Most vectors of a pool that a layer adds up."""
    layers = [layer for network in networks for layer in network.choice.pooled]
    return max(layers[place].terms for place in part.places)


def _by_layer(pools: Sequence[_Pool], parts: Sequence[Part]) -> Iterator[_Pool]:
    """The pool of each layer, in the order of the layers."""
    found = {place: pool for pool, part in zip(pools, parts, strict=True) for place in part.places}
    return (found[place] for place in range(len(found)))


def _refined(
    pools: Sequence[Array],
    parts: Sequence[Part],
    objectives: Sequence[Objective],
    assignments: Sequence[Assignment],
    *,
    signed: bool,
) -> list[Array]:
    """Each pool, refined for its own layers."""
    return [
        refined_pool(
            pool,
            [objectives[place] for place in part.places],
            [assignments[place] for place in part.places],
            signed=signed,
        )
        for pool, part in zip(pools, parts, strict=True)
    ]


def _first_pools(
    networks: tuple[Network, ...],
    parts: Sequence[Part],
    options: WeightPoolOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[tuple[Network, ...], list[Array]]:
    """The networks with the terms of their layers, and float64 [S, G] pools.

    Clusters, then assignments and pools in turn, each layer on the float network's input.
    """
    layers = [layer for network in networks for layer in network.choice.pooled]
    progress("measuring layers")
    objectives = [each for network in networks for each in own_objectives(network, rng)]
    progress("clustering")
    clouds = list(map(normalised, layers, objectives))
    pools = [
        cluster(joined([clouds[place] for place in part.places]), part.size, options.signed, rng)
        for part in parts
    ]
    if options.ratio is not None:
        details = list(zip(objectives, _by_layer(pools, parts), clouds, strict=True))
        networks = _with_more_terms(networks, details, options, progress)
    terms = [layer.terms for network in networks for layer in network.choice.pooled]
    for number in range(_FIRST_ROUNDS):
        progress("refining the pool", number, _FIRST_ROUNDS)
        found = list(map(assign, objectives, _by_layer(pools, parts), terms))
        pools = _refined(pools, parts, objectives, found, signed=options.signed)
    return networks, pools


def _with_more_terms(
    networks: Sequence[Network],
    details: Sequence[tuple[Objective, Array, Cloud]],
    options: WeightPoolOptions,
    progress: Progress,
) -> tuple[Network, ...]:
    """The networks with the terms that the ratio leaves bytes for.

    `details` are, for the layers of all networks, the objective, the pool and the weights.
    """
    rest, found = iter(details), []
    for network in networks:
        own = islice(rest, len(network.choice.pooled))
        objectives, pools, clouds = zip(*own, strict=True)
        noise = layer_noise(network, objectives, pools, clouds, progress)
        found.append(spent(network, noise, options))
    return tuple(found)
