"""Weights of named layers as numbers of their own: few bits each, or indices into a pool.

All layers are chosen in one pass, each on what the network computes so far, whatever their weights
are.  The pool of layers that share one is found before, as if they alone were compressed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import WeightPoolError
from edgec.base.names import printable
from edgec.base.options import (
    InPool,
    LayerBits,
    Numbers,
    Progress,
    WeightPoolOptions,
    no_progress,
)
from edgec.floatrun.activations import checked_calibration
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.weight_pool import WeightPool
from edgec.layererror.objective import Objective
from edgec.weightpool.compress import pool_of
from edgec.weightpool.layers import Choice, check_patterns, check_unpooled, impossible, matches
from edgec.weightpool.levels import with_few_bits
from edgec.weightpool.network import Network
from edgec.weightpool.sequence import in_order, with_indices
from edgec.weightpool.vectors import PoolLayer, pool_layer


def bits_of_layers(graph: Graph, asked: Sequence[LayerBits]) -> dict[str, Numbers]:
    """The numbers that weights are, by name of the layer's node.

    Args:
        graph: REAL stage.
        asked: names and patterns; of several that match a layer the last holds.

    Raises:
        WeightPoolError: one matches no layer that can have few bits.
    """
    layers = [node for node in graph.nodes if isinstance(node.attrs, ops.Weighted)]
    found: dict[str, Numbers] = {}
    for each in asked:
        named = [node for node in layers if node.name == each.layers]
        if not named:
            check_patterns(graph, layers, (each.layers,), "--weight-bits", "have few bits")
            named = [node for node in layers if matches(node, (each.layers,))]
            named = [node for node in named if not impossible(graph, node)]
        found |= dict.fromkeys((node.name for node in named), each.bits)
    return found


def narrowed_layers(
    graph: Graph,
    calibration: Mapping[str, Array] | None,
    bits: Mapping[str, Numbers],
    progress: Progress = no_progress,
    seed: int = 0,
) -> Graph:
    """Replace the weights of named layers by numbers of their own.

    Args:
        graph: REAL stage, after `passes.pipeline.REAL_PASSES`.
        calibration: float32 [N, ...] by graph input; they choose weights by the error of each
            layer's output.  None: it is the error of the weights.
        bits: the numbers that weights are, by name of the layer's node.
        progress: told what is being done.
        seed: seed of clusters, and of the choice of output elements that are looked at.

    Returns:
        REAL stage, nodes and values of the same names; weights int8 with a scale for each output.

    Raises:
        WeightPoolError: a layer that cannot have such weights, fewer vectors than a pool has;
            weights in a pool of the file's own, or not finite.
        ConfigError: calibration data that do not fit.
    """
    layers = [node for node in graph.nodes if isinstance(node.attrs, ops.Weighted)]
    check_unpooled(graph, layers)
    narrow = [node for node in layers if node.name in bits]
    for node in narrow:
        if reason := impossible(graph, node):
            what = f"cannot have weights of few bits: {reason}"
            raise WeightPoolError(what, where=printable(node.name))
    data = None if calibration is None else checked_calibration(graph, calibration)
    chosen = tuple(_layer(graph, node, bits[node.name]) for node in narrow)
    network = Network(graph, data, Choice(chosen, ()))
    pools = _pools(network, bits, seed, progress)
    done = 0

    def choose(current: Graph, layer: PoolLayer, objective: Objective) -> Graph:
        nonlocal done
        progress("deciding layers", done, len(chosen))
        done += 1
        own = bits[layer.node.name]
        if isinstance(own, InPool):
            return with_indices(current, layer, objective, pools[own.size])[0]
        return with_few_bits(current, layer, objective, own)

    return in_order(network, choose, np.random.default_rng(seed))


def _layer(graph: Graph, node: Node, bits: Numbers) -> PoolLayer:
    group = WeightPoolOptions().group if isinstance(bits, InPool) else 1
    return pool_layer(graph, node, group)


def _pools(
    network: Network, bits: Mapping[str, Numbers], seed: int, progress: Progress
) -> dict[int, WeightPool]:
    """The pool of each size that layers have."""
    sizes = {name: own.size for name, own in bits.items() if isinstance(own, InPool)}
    found: dict[int, WeightPool] = {}
    for size in dict.fromkeys(sizes.values()):
        layers = tuple(e for e in network.choice.pooled if sizes.get(e.node.name) == size)
        of_pool = Network(network.graph, network.data, Choice(layers, ()))
        found[size] = pool_of(of_pool, WeightPoolOptions(size=size, seed=seed), progress)
    return found
