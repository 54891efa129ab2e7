"""A network that is being compressed, and its values on calibration data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.errors import InternalError
from edgec.floatrun.activations import Walk, activations
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.qparams import QuantParams
from edgec.ir.weight_pool import PooledWeights, WeightPool
from edgec.layererror.objective import Moments, Objective, plain_objective
from edgec.weightpool.assign import Assignment
from edgec.weightpool.layers import Choice
from edgec.weightpool.vectors import PoolLayer, sampled_rows


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A network with its data.

    Attributes:
        graph: REAL stage, as it was.
        data: float32 [N, ...] by graph input, or None.
        choice: the layers to pool.
        goal: computes what the network should, with nodes and values of the same names; None: the
            graph itself.
    """

    graph: Graph
    data: Mapping[str, Array] | None
    choice: Choice
    goal: Graph | None = None

    @property
    def samples(self) -> int:
        """Calibration samples."""
        return len(next(iter(self.data.values()))) if self.data else 0


def own_objectives(network: Network, rng: np.random.Generator) -> tuple[Objective, ...]:
    """Each layer's error when everything else is as it was."""
    layers = network.choice.pooled
    if network.data is None:
        return tuple(plain_objective(layer) for layer in layers)
    moments = [Moments(layer) for layer in layers]
    names = dict.fromkeys(layer.node.first for layer in layers)
    for _, batch in activations(network.graph, list(names), network.data):
        for layer, each in zip(layers, moments, strict=True):
            x = batch[layer.node.first]
            each.update(sampled_rows(layer, x, network.samples, rng)[0])
    return tuple(each.own_objective() for each in moments)


class Course:
    """A pass over a network: what it computes as it was, and as far as it is compressed."""

    def __init__(self, network: Network) -> None:
        """Begin at the inputs.

        Args:
            network: the network, with data.

        Raises:
            InternalError: it has no data.
        """
        if network.data is None:
            raise InternalError("there are no data to pass over", where=network.graph.name)
        self._network = network
        self._places = {node.name: place for place, node in enumerate(network.graph.nodes)}
        self._goal = network.goal or network.graph
        self._before = Walk(self._goal, network.data)
        self._now = Walk(network.graph, network.data)

    def objective(self, current: Graph, layer: PoolLayer, rng: np.random.Generator) -> Objective:
        """A layer's error when it reads what a partly compressed network computes.

        Where the layer's output only goes into a sum, the float network's sum is the goal, so that
        the layer also makes up for the error of the other term.

        Args:
            current: the network's graph as far as it is compressed, with values of the same names.
            layer: the layer to decide, no earlier one than at the last call.
            rng: picks output elements.
        """
        network = self._network
        moments = Moments(layer)
        source, wanted = layer.node.first, layer.node.output
        other = _other_summand(network.graph, wanted)
        reached = network.graph.consumers[wanted][0].output if other else wanted
        read = list(dict.fromkeys(name for name in (source, other) if name))
        place = self._places[layer.node.name]
        before = self._before.activations(self._goal, [reached], place)
        now = self._now.activations(current, read, place)
        for float_batch, batch in zip(before, now, strict=True):
            rows, picked = sampled_rows(layer, batch[source], network.samples, rng)
            goal = float_batch[reached] - batch[other] if other else float_batch[reached]
            moments.update(rows)
            moments.update_goal(rows, goal.reshape(-1, layer.outputs)[picked])
        return moments.objective()

    def changed(self, current: Graph, layer: PoolLayer) -> None:
        """Tell that a layer was decided: what depends on it is computed anew.

        Args:
            current: the network's graph with the layer as it is now.
            layer: the layer.
        """
        self._now.forget(current, layer.node.output)


def _other_summand(graph: Graph, name: str) -> str:
    """Other summand of a value whose only reader is a sum of two values; else ""."""
    node = graph.sole_consumer(name)
    if node is None or not isinstance(node.attrs, ops.Add):
        return ""
    others = [each for each in node.inputs if each != name]
    if len(others) != 1 or others[0] not in graph.values:
        return ""
    other = others[0]
    return other if graph.shape(other) == graph.shape(name) else ""


def with_layer(
    graph: Graph, layer: PoolLayer, pool: WeightPool, found: Assignment, bias: Array
) -> Graph:
    """The graph with one layer's weights from the pool.

    Args:
        graph: REAL stage.
        layer: one of its layers.
        pool: int8 vectors.
        found: indices and the scale of the int8 weights.
        bias: float64 [O].
    """
    indices = found.indices.reshape(layer.outputs, *layer.taps[:-1], -1)
    pooled = PooledWeights(pool, indices, layer.terms)
    scale = tuple(float(s) for s in found.scale.astype(np.float32))
    quant = QuantParams(scale, (0,) * len(scale), DType.INT8, axis=0)
    weight = Constant(layer.weight_name, pooled.expand(layer.channels), quant, pooled)
    return with_constants(graph, layer, weight, bias)


def with_codes(graph: Graph, layer: PoolLayer, codes: Array, scale: Array, bias: Array) -> Graph:
    """The graph with whole numbers for one layer's weights.

    Args:
        graph: REAL stage.
        layer: one of its layers, of vectors of one weight.
        codes: int8 [O, K].
        scale: float64 [O], positive.
        bias: float64 [O].
    """
    taps = codes.reshape(layer.outputs, *layer.taps[:-1], layer.channels)
    steps = tuple(float(s) for s in scale.astype(np.float32))
    quant = QuantParams(steps, (0,) * len(steps), DType.INT8, axis=0)
    return with_constants(graph, layer, Constant(layer.weight_name, taps, quant), bias)


def with_weights(graph: Graph, layer: PoolLayer, rows: Array, bias: Array) -> Graph:
    """The graph with other real weights [O, K] and bias [O] in one layer."""
    taps = rows.reshape(layer.outputs, *layer.taps[:-1], -1)[..., : layer.channels]
    weight = Constant(layer.weight_name, np.asarray(taps, np.float32))
    return with_constants(graph, layer, weight, bias)


def with_constants(graph: Graph, layer: PoolLayer, weight: Constant, bias: Array) -> Graph:
    """The graph with other constants in one layer; those that others read as well stay for them.

    Args:
        graph: REAL stage.
        layer: one of its layers.
        weight: real, codes or pooled weights of the layer's shape, under its weights' name.
        bias: [O].
    """
    builder = GraphBuilder.of(graph)
    node = builder.nodes[layer.node.name]
    inputs = ops.layer_inputs(node)
    real_bias = Constant(f"{node.name}_bias", np.asarray(bias, np.float32))

    def put(old: str | None, new: Constant) -> str:
        alone = old is not None and len(graph.consumers[old]) == node.inputs.count(old) == 1
        stem = old or new.name
        return builder.constant(stem, new.array, new.quant, pooled=new.pooled, keep_name=alone)

    changed = replace(inputs, w=put(inputs.w, weight), b=put(inputs.b, real_bias))
    builder.put(replace(node, inputs=changed.names()))
    return builder.build()
