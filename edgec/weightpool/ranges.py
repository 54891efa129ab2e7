"""Input ranges of pooled layers, for few bits of activations.

An activation's largest values are rare.  Rounded to 4 bits a range that holds them all leaves few
levels for the others, so the ReLUs before pooled layers become ``Clip(0, high)`` with the `high`
of least squared error.  At 8 bits this changes next to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from edgec.base.dtypes import Array
from edgec.floatrun.activations import activations
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.weightpool.network import Network

_MOVERS = (ops.MaxPool, ops.Reshape, ops.Transpose, ops.Slice)
"""Operators whose output has the range of their input."""
_CODES = 255
_CANDIDATES = 40
_VALUES = 1 << 14
"""Values of an activation that are looked at in a batch of samples."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """Some values of an activation.

    Attributes:
        values: float32 [N], drawn at random, as many of each batch of samples.
        least: the least of all values.
    """

    values: Array
    least: float


def drawn_values(
    graph: Graph, names: Sequence[str], data: Mapping[str, Array], rng: np.random.Generator
) -> dict[str, Drawn]:
    """Values of activations on all samples, by name.

    Args:
        graph: the network, in real numbers.
        names: the values that are drawn from.
        data: samples, by input: [N, ...].
        rng: picks values.
    """
    seen: dict[str, list[Array]] = {name: [] for name in names}
    least = dict.fromkeys(seen, np.inf)
    for _, batch in activations(graph, list(seen), data):
        for name, found in seen.items():
            # Drawn, not every n-th: that would be the same few channels again and again.
            flat = batch[name].reshape(-1)
            found.append(flat[rng.integers(0, flat.size, _VALUES)])
            least[name] = min(least[name], float(flat.min()))
    return {name: Drawn(np.concatenate(found), least[name]) for name, found in seen.items()}


def with_ranges(network: Network, pooled: Graph, bits: int, rng: np.random.Generator) -> Graph:
    """The graph with ranges for `bits` bits; as it is without data or at 8 bits.

    Args:
        network: says which layers are pooled, and has the data.
        pooled: the network's graph after compression.
        bits: width of activations.
        rng: picks values.
    """
    clips = _clips(network)
    if network.data is None or bits == 8 or not clips:
        return pooled
    seen = drawn_values(pooled, [node.output for node in clips], network.data, rng)
    builder = GraphBuilder.of(pooled)
    for node in clips:
        high = least_error(seen[node.output].values, bits)
        if 0 < high < node.attrs_as(ops.Clip).high:
            builder.put(replace(node, attrs=ops.Clip(0.0, high)))
    return builder.build()


def least_error(values: Array, bits: int) -> float:
    """The range from 0 in which rounding to `bits` bits errs least, as `qops.PoolRounding` does it.

    Args:
        values: float32 [N], not negative.
        bits: 1 to 7.

    Returns:
        The upper end; 0.0 where all values are 0.
    """
    largest = float(values.max())
    best, least = largest, np.inf
    for share in np.arange(1, _CANDIDATES + 1) / _CANDIDATES:
        step = largest * share / _CODES * 2 ** (8 - bits)
        if step < np.finfo(np.float32).tiny:
            continue
        levels = np.minimum(np.floor(values / step + 0.5), 2**bits - 1)
        error = float(np.mean((levels * step - values) ** 2))
        if error < least:
            best, least = float(np.float32(largest * share)), error
    return best


def _clips(network: Network) -> list[Node]:
    """The ReLUs that pooled layers read, directly or through operators that only move values."""
    producers = network.graph.producers
    found: dict[str, Node] = {}
    for layer in network.choice.pooled:
        node = producers.get(layer.node.first)
        while node is not None and isinstance(node.attrs, _MOVERS):
            node = producers.get(node.first)
        if node is not None and isinstance(node.attrs, ops.Clip) and node.attrs.low == 0:
            found[node.name] = node
    return list(found.values())
