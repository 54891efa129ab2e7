"""Weights of few bits after training: whole numbers times a scale for each output channel.

Such weights are a pool whose vectors are single weights and whose entries are known: all whole
numbers of so few bits.  So they are chosen as indices are, by the error of the layer's output, each
error made up for by the weights still open (`assign`); only the scales need another start, since
the range they cover has to be chosen, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import WeightPoolError
from edgec.base.names import printable
from edgec.base.options import (
    MAX_ACTIVATION_BITS,
    FewBitsOptions,
    Progress,
    WeightBits,
    no_progress,
)
from edgec.floatrun.activations import checked_calibration
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.layererror.objective import Objective
from edgec.weightpool.assign import Assignment, assign, codes
from edgec.weightpool.few_codes import with_few_codes
from edgec.weightpool.layers import (
    Choice,
    LeftAlone,
    check_patterns,
    check_unpooled,
    impossible,
    matches,
)
from edgec.weightpool.network import Network, with_codes
from edgec.weightpool.report import packed_bytes
from edgec.weightpool.sequence import in_order
from edgec.weightpool.summary import output_quality
from edgec.weightpool.vectors import PoolLayer, pool_layer

_LEAST_SAVED = 512
"""Bytes: a layer that saves fewer stays in bytes, in flash as well (`kernels.packed`)."""
_STARTS = 40
"""Scales that are tried for each filter before feedback."""
_LEAST_START = 0.15
"""The least of them, relative to the one with which no weight is cut off."""


@dataclass(frozen=True, slots=True)
class NarrowLayer:
    """A layer with weights of few bits.

    Attributes:
        node: its name.
        weights: number of weights.
        zeros: how many of them are 0.
        sqnr_db: signal-to-error ratio of the layer's output against the float network's, with all
            layers narrow; None without calibration data.
        stored_bytes: bytes of its weights, packed.
    """

    node: str
    weights: int
    zeros: int
    sqnr_db: float | None
    stored_bytes: int


@dataclass(frozen=True, slots=True)
class NarrowReport:
    """Result of giving a network weights of few bits.

    Attributes:
        bits: the numbers that weights are.
        samples: calibration samples; 0 when there were none.
        layers: the layers with such weights, in graph order.
        left_alone: the other layers with weights.
        int8_bytes, narrow_bytes: weights of all layers before, a byte each, and after, packed;
            both with a bias and a multiplier of 32 bits for each output channel.
        notes: what the user should know, a sentence each.
        activation_bits: width of the numbers that the layers read.
    """

    bits: WeightBits
    samples: int
    layers: tuple[NarrowLayer, ...]
    left_alone: tuple[LeftAlone, ...]
    int8_bytes: int
    narrow_bytes: int
    notes: tuple[str, ...] = ()
    activation_bits: int = MAX_ACTIVATION_BITS


def narrowed(
    graph: Graph,
    calibration: Mapping[str, Array] | None,
    options: FewBitsOptions,
    progress: Progress = no_progress,
) -> Graph:
    """Replace the weights of layers by whole numbers of few bits.

    With calibration data they minimise the error of each layer's output, layer after layer on what
    the network computes so far; biases and the layers left alone make up for what remains.
    Without data it is the error of the weights.

    Args:
        graph: REAL stage, after `passes.pipeline.REAL_PASSES`.
        calibration: float32 [N, ...] by graph input, or None; activations of few bits need them.
        options: the numbers, and the layers.
        progress: told what is being done.

    Returns:
        REAL stage, nodes and values of the same names, and those that round activations; weights
        int8 with a scale for each output.

    Raises:
        WeightPoolError: no layer that can be given few bits, weights in a pool or not finite.
        ConfigError: calibration data that do not fit.
    """
    network = _network(graph, calibration, options)
    if options.activation_bits < MAX_ACTIVATION_BITS:
        rng = np.random.default_rng(options.seed)
        network = with_few_codes(network, options.activation_bits, rng)
    count, done = len(network.choice.pooled), 0

    def choose(current: Graph, layer: PoolLayer, objective: Objective) -> Graph:
        nonlocal done
        progress("deciding layers", done, count)
        done += 1
        return with_few_bits(current, layer, objective, options.bits)

    return in_order(network, choose, np.random.default_rng(options.seed))


def with_few_bits(graph: Graph, layer: PoolLayer, objective: Objective, bits: WeightBits) -> Graph:
    """The graph with whole numbers of few bits for the weights of one layer.

    Args:
        graph: REAL stage.
        layer: one of its layers, of vectors of one weight.
        objective: the error of its output.
        bits: the numbers.
    """
    low, high = bits.levels
    pool = np.arange(low, high + 1, dtype=np.float64)[:, None]
    found = _chosen(objective, pool)
    whole = codes(found.indices, pool).astype(np.int8)
    return with_codes(graph, layer, whole, found.scale, objective.bias(found.rows(pool)))


def narrow_report(
    before: Graph,
    after: Graph,
    calibration: Mapping[str, Array] | None,
    options: FewBitsOptions,
) -> NarrowReport:
    """The report of a network after `narrowed`, and after fine-tuning, too.

    Args:
        before: REAL stage, as it was.
        after: with weights of few bits, nodes and values of the same names.
        calibration: as for `narrowed`.
        options: as for `narrowed`.
    """
    network = _network(before, calibration, options)
    quality = output_quality(network, after)
    nodes = {node.name: node for node in after.nodes}
    layers = []
    for layer in network.choice.pooled:
        weight = after.constants[ops.layer_inputs(nodes[layer.node.name]).w].array
        layers.append(
            NarrowLayer(
                node=layer.node.name,
                weights=weight.size,
                zeros=int(np.count_nonzero(weight == 0)),
                sqnr_db=quality.get(layer.node.output),
                stored_bytes=packed_bytes(weight.size, options.bits.stored_bits),
            )
        )
    int8 = _stored_bytes(before)
    saved = sum(layer.weights - layer.stored_bytes for layer in layers)
    return NarrowReport(
        bits=options.bits,
        samples=network.samples,
        layers=tuple(layers),
        left_alone=network.choice.left_alone,
        int8_bytes=int8,
        narrow_bytes=int8 - saved,
        activation_bits=options.activation_bits,
    )


def narrow_layers(graph: Graph, options: FewBitsOptions) -> Choice:
    """The layers that get few bits, and the reasons against the others.

    Args:
        graph: REAL stage.
        options: the numbers, and patterns of layers.

    Raises:
        WeightPoolError: see `narrowed`; a pattern matches no layer.
    """
    layers = [node for node in graph.nodes if isinstance(node.attrs, ops.Weighted)]
    check_unpooled(graph, layers)
    check_patterns(graph, layers, options.layers, "--layers", "have few bits")
    check_patterns(graph, layers, options.keep, "--keep")
    narrow, left_alone = [], []
    for node in layers:
        reason = impossible(graph, node) or _unwanted(graph, node, layers, options)
        if reason:
            left_alone.append(LeftAlone(node.name, reason))
        else:
            narrow.append(pool_layer(graph, node, 1))
    if not narrow:
        reasons = "; ".join(f"{printable(each.node)}: {each.reason}" for each in left_alone[:5])
        raise WeightPoolError(
            f"no layer to give few bits ({reasons or 'the model has no weights'})",
            where=graph.name,
            hint="name layers with --layers"
            + (", leave out --keep" if options.keep else "")
            + ", or compile the model as it is",
        )
    return Choice(tuple(narrow), tuple(left_alone))


def _unwanted(graph: Graph, node: Node, layers: list[Node], options: FewBitsOptions) -> str:
    """Reason why a layer should not get few bits; empty when it should."""
    if options.keep and matches(node, options.keep):
        return "--keep"
    if options.layers:
        return "" if matches(node, options.layers) else "not among --layers"
    if node is layers[0]:
        return "the first layer: its errors reach all others"
    if node is layers[-1]:
        return "the last layer: its errors go straight to the output"
    count = math.prod(graph.shape(ops.layer_inputs(node).w))
    if count - packed_bytes(count, options.bits.stored_bits) < _LEAST_SAVED:
        return f"only {count} weights: saves little"
    return ""


def _network(
    graph: Graph, calibration: Mapping[str, Array] | None, options: FewBitsOptions
) -> Network:
    data = None if calibration is None else checked_calibration(graph, calibration)
    return Network(graph, data, narrow_layers(graph, options))


def _chosen(objective: Objective, pool: Array) -> Assignment:
    """The whole numbers and scales of a layer."""
    return assign(objective, pool, 1, _first_scale(objective, pool))


def _first_scale(objective: Objective, pool: Array) -> Array:
    """The scale of each filter, float64 [O], with which nearest numbers err least, of some."""
    low, high = float(pool[0, 0]), float(pool[-1, 0])
    largest = np.maximum(objective.target.max(axis=1) / high, objective.target.min(axis=1) / low)
    whole = np.maximum(largest, 1e-30)
    best, least = whole, np.full(len(whole), np.inf)
    for share in np.linspace(_LEAST_START, 1.0, _STARTS):
        scale = share * whole
        nearest = np.clip(np.floor(objective.target / scale[:, None] + 0.5), low, high)
        error = objective.error(nearest * scale[:, None])
        better = error < least
        best, least = np.where(better, scale, best), np.where(better, error, least)
    return np.asarray(best)


def _stored_bytes(graph: Graph) -> int:
    """Weights, biases and multipliers of all layers in int8."""
    total = 0
    for node in graph.nodes:
        if isinstance(node.attrs, ops.Weighted):
            name = ops.layer_inputs(node).w
            if name in graph.constants:
                shape = graph.shape(name)
                total += math.prod(shape) + 8 * shape[0]
    return total
