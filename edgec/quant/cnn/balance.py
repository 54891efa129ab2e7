"""Scales of channels that cost nothing: factors folded into the layers before and after.

An int8 tensor has one scale, so a channel that is a hundred times smaller than the largest keeps
one or two bits.  Where the channels of a tensor may be multiplied by factors (`channel_classes`),
each is brought as near to the range of its tensor as pays: the rows of the layers before take the
factors at no cost, their weights have a scale for each output channel; the columns of the layers
after take the reciprocals, which makes the weights of a row uneven.  Depthwise layers read each
channel with a row of its own, so they cost nothing either way.

With m the share of the tensor's range that a channel fills on the calibration data, its factor is
``m**-exponent``; each group of tensors that share channels gets the exponent of `EXPONENTS` with
the least estimated error: that of rounding activations, and that of rounding the weights of the
layers that read them, each relative to what the layer computes.

Sources: Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction",
ICCV 2019 (factors between layers); Xiao et al., "SmoothQuant", ICML 2023 (from activations, with an
exponent).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.fixedpoint import INT8_MAX
from edgec.base.portable_functions import log, power
from edgec.ir import ops
from edgec.ir.fusion import fused_clip
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.quant.cnn.channel_classes import (
    FIXED,
    ChannelClasses,
    Limit,
    channel_classes,
    input_channels,
)
from edgec.quant.cnn.joins import (
    Part,
    joined_parts,
    scaled_values,
    uneven_parts,
    with_layers,
    with_readers,
)
from edgec.quant.common.importance import importance
from edgec.quant.common.statistics import ChannelStatistics, channel_statistics
from edgec.quant.scales.groups import Unions

EXPONENTS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Exponents of the equalization: 0 keeps the channels, 1 gives all of them one range."""
SAMPLES = 64
"""Samples that extremes and powers are taken from."""
_PLENTY = 100_000
"""Elements of a channel whose extremes are those of all data, nearly."""
_LEAST_MARGIN = 1.05
_MOST = 64.0
"""The largest factor: int8 holds no more than that of a channel's differences."""
_MOST_JOINED = 2.0**24
"""The largest factor of a tensor that is joined to another one."""
_WORTH = 0.8
"""Share of the error that must remain at most: less is no matter of channels."""
_LEVELS = 255.0


def can_balance(graph: Graph) -> bool:
    """Whether `balance` may scale a channel of a graph of the REAL stage."""
    if channel_classes(graph).classes:
        return True
    joins = {node.name for node in graph.nodes if isinstance(node.attrs, ops.Concat)}
    trial = with_readers(graph, joins)
    trial, _ = with_layers(trial, joined_parts(trial))
    return bool(channel_classes(trial).classes)


@dataclass(frozen=True, slots=True, eq=False)
class Balanced:
    """A network after `balance`.

    Attributes:
        graph: REAL stage.
        statistics: those of its real tensors on the first `SAMPLES` samples, up to rounding; of
            none where no channel can be scaled, and of none whose channels hold elements of
            several factors.
    """

    graph: Graph
    statistics: Mapping[str, ChannelStatistics]


def balance(graph: Graph, data: Mapping[str, Array]) -> Balanced:
    """Scale channels; on the data the network computes the same, up to rounding in float32.

    Args:
        graph: REAL stage, batch norms folded.
        data: graph input name to float32 [N, ...]; the first `SAMPLES` are used.

    Returns:
        The graph with other weights where scaling is estimated to pay, else the graph.
    """
    few = {name: array[:SAMPLES] for name, array in data.items()}
    uneven = uneven_parts(graph, few)
    trial = _with_joins(graph, few, uneven)
    # Only parts that get a factor need a layer of their own, and readers that take it.
    paying = tuple(part for part in uneven if trial.pays(part))
    if paying != uneven:
        trial = _with_joins(graph, few, paying)
    found = trial.found
    if not (found.factors != 1.0).any():
        return Balanced(trial.graph, found.statistics)
    statistics = {
        name: own.times(found.of(name, len(own.power)))
        for name, own in found.statistics.items()
        if name not in found.classes.apart
    }
    return Balanced(_scaled(trial.graph, found), statistics)


@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    """A graph with layers at joined tensors, and the factors of its channels.

    Attributes:
        graph: REAL stage.
        joined: by part, the tensor that takes its place; parts that layers compute, themselves.
        found: the factors.
    """

    graph: Graph
    joined: Mapping[Part, str]
    found: _Factors

    def pays(self, part: Part) -> bool:
        """Whether a part gets a factor."""
        return bool((self.found.of(self.joined[part], 1) != 1.0).any())


def _with_joins(graph: Graph, data: Mapping[str, Array], uneven: tuple[Part, ...]) -> _Trial:
    graph = with_readers(graph, {join for join, _ in uneven}) if uneven else graph
    scaled = scaled_values(graph)
    parts = tuple(part for part in uneven if part[1] not in scaled)
    graph, made = with_layers(graph, parts) if parts else (graph, {})
    joined = {part: made.get(part, part[1]) for part in uneven}
    return _Trial(graph, joined, _factors(graph, data, joined.values()))


@dataclass(frozen=True, slots=True, eq=False)
class _Factors:
    """A factor, float64, for each class of the channels of a graph, and what they follow from."""

    classes: ChannelClasses
    factors: Array
    statistics: Mapping[str, ChannelStatistics]

    def of(self, name: str, channels: int) -> Array:
        """The factor of each channel of a tensor; float64 [C]."""
        own = self.classes.classes.get(name)
        return np.ones(channels) if own is None else np.asarray(self.factors[own])


def _factors(graph: Graph, data: Mapping[str, Array], joined: Iterable[str]) -> _Factors:
    """The classes of a graph, and a factor for each of them.

    Args:
        graph: REAL stage.
        data: all of it is used.
        joined: parts of joined tensors that layers compute and that reach much less far than these.
    """
    found = channel_classes(graph)
    if not found.classes:
        return _Factors(found, np.ones(1), {})
    statistics = channel_statistics(graph, graph.values, data)
    return _Factors(found, _Search(graph, found, statistics, joined).factors(), statistics)


class _Search:
    """The factor of every class, one group of tensors after the other."""

    def __init__(
        self,
        graph: Graph,
        found: ChannelClasses,
        statistics: Mapping[str, ChannelStatistics],
        joined: Iterable[str],
    ) -> None:
        self._graph, self._found, self._statistics = graph, found, statistics
        self._importance = importance(graph, statistics)
        self._size = 1 + max(int(own.max()) for own in found.classes.values())
        self._most = np.full(self._size, _MOST)
        self._joined = frozenset(joined)
        # They differ from another tensor, not from a channel of the same one.
        known = [found.classes[name] for name in self._joined if name in found.classes]
        self._free = np.unique(np.concatenate([*known, [FIXED]])).astype(np.int64)
        self._most[self._free] = _MOST_JOINED
        self._most[FIXED] = 1.0
        for limit in found.limits:
            self._keep_within(limit)

    def _keep_within(self, limit: Limit) -> None:
        own = self._statistics[limit.value]
        margin = _margin(own.count)
        most = self._most[self._found.classes[limit.value]]
        room = most.copy()
        for bound, reached in ((limit.high, own.high), (limit.low, own.low)):
            if np.isfinite(bound):
                wide = reached * margin
                far = np.abs(wide) * most > abs(bound)
                room = np.minimum(room, np.where(far, bound / np.where(far, wide, 1.0), most))
        np.minimum.at(self._most, self._found.classes[limit.value], np.maximum(room, 1.0))

    def factors(self) -> Array:
        """float64, one for each class, 1 or more."""
        filled = np.zeros(self._size)
        for name, own in self._found.classes.items():
            # What is joined may widen the range at an end that it alone has.
            free = np.isin(own, self._free)
            if name in self._joined or (free & (own != FIXED)).all():
                continue  # its range is that of the joined tensor
            statistics = self._statistics[name]
            share = np.where(free, statistics.magnitudes, statistics.filled)
            reach = share * _margin(statistics.count)
            np.maximum.at(filled, own, np.minimum(reach, 1.0))
        filled = np.where(filled > 0, filled, 1.0)
        chosen = np.ones(self._size)
        for names in _groups(self._found):
            tried = [self._raised(names, filled, exponent) for exponent in EXPONENTS]
            errors = [self._error(names, factors) for factors in tried]
            best = int(np.argmin(errors))
            if errors[best] <= _WORTH * errors[0]:
                chosen = np.maximum(chosen, tried[best])
        return chosen

    def _raised(self, names: tuple[str, ...], filled: Array, exponent: float) -> Array:
        factors = np.ones(self._size)
        members = np.unique(np.concatenate([self._found.classes[name] for name in names]))
        raised = power(filled[members], -exponent) if exponent else np.ones(len(members))
        factors[members] = np.maximum(np.minimum(raised, self._most[members]), 1.0)
        return factors

    def _error(self, names: tuple[str, ...], factors: Array) -> float:
        """Estimated noise at the outputs from rounding the values, and what reads them."""
        total = 0.0
        for name in names:
            if name not in self._importance:
                continue
            own = factors[self._found.classes[name]]
            if not self._is_fused(name):
                total += self._rounding(name, own)
            for reader in self._graph.consumers[name]:
                if reader.name in self._found.layers and reader.output in self._importance:
                    total += self._weights(reader, name, own)
        return total

    def _is_fused(self, name: str) -> bool:
        """Whether nothing stores a value: a Clip is part of what computes it."""
        producer = self._graph.producers.get(name)
        return producer is not None and fused_clip(self._graph, producer) is not None

    def _rounding(self, name: str, factors: Array) -> float:
        own = self._statistics[name]
        span = float((own.high * factors).max() - (own.low * factors).min())
        noise = (span / _LEVELS / factors) ** 2 / 12
        elements = self._graph.values[name].elements / len(noise)
        return float((noise * self._importance[name]).sum()) * elements

    def _weights(self, reader: Node, name: str, factors: Array) -> float:
        """Noise of a layer's output from rounding weights whose columns are divided by factors."""
        weight = self._graph.constants[ops.layer_inputs(reader).w].array.astype(np.float64)
        channels = input_channels(reader, weight.shape)
        flat = weight.reshape(len(weight), -1, weight.shape[-1])
        step = (np.abs(flat).max(axis=1) / factors[channels]).max(axis=1) / INT8_MAX
        power_read = self._statistics[name].power * factors * factors
        read = power_read[channels].sum(axis=1) * flat.shape[1]
        elements = self._graph.values[reader.output].elements / len(weight)
        noise = step * step * read / 12
        return float((noise * self._importance[reader.output]).sum()) * elements


def _margin(count: int) -> float:
    """Room that a channel keeps beyond the extremes of `count` elements.

    The extremes of n numbers of a normal distribution lie at about sqrt(2 log n): as far as those
    of `_PLENTY` numbers would.
    """
    seen = np.array([min(max(count, 2), _PLENTY), _PLENTY], np.float64)
    few, plenty = log(seen)
    return float(np.sqrt(plenty / few)) * _LEAST_MARGIN


def _groups(found: ChannelClasses) -> list[tuple[str, ...]]:
    """The values with classes, those that share one together."""
    sets, first_of = Unions(found.classes), dict[int, str]()
    for name, own in found.classes.items():
        for each in np.unique(own[own != FIXED]):
            sets.join(first_of.setdefault(int(each), name), name)
    return list(sets.sets(found.classes).values())


def _scaled(graph: Graph, found: _Factors) -> Graph:
    """The graph with the factors in the weights of its layers."""
    builder = GraphBuilder.of(graph)
    for node in graph.nodes:
        if node.name not in found.classes.layers:
            continue
        inputs = ops.layer_inputs(node)
        weight = graph.constants[inputs.w].array
        rows = found.of(node.output, len(weight))
        channels = input_channels(node, weight.shape)
        columns = found.of(inputs.x, graph.shape(inputs.x)[-1])[channels]
        inner = [1] * (weight.ndim - 2)
        gain = rows.reshape(-1, *inner, 1) / columns.reshape(len(weight), *inner, -1)
        if (gain != 1.0).any():
            _store(builder, inputs.w, weight * gain)
        if inputs.b and (rows != 1.0).any():
            _store(builder, inputs.b, graph.constants[inputs.b].array.reshape(-1) * rows)
    return builder.build()


def _store(builder: GraphBuilder, name: str, array: Array) -> None:
    shape = builder.constants[name].shape
    builder.constant(name, array.reshape(shape).astype(np.float32), keep_name=True)
