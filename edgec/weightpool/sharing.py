"""Sets of layers that share a pool, and the number of vectors of each pool."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from edgec.base.errors import WeightPoolError
from edgec.base.options import PoolSharing, WeightPoolOptions
from edgec.weightpool.network import Network
from edgec.weightpool.vectors import PoolLayer

LEAST_USES = 4
"""Vectors of layers for each vector of a pool that not the whole network shares.  A vector of eight
weights takes as many bytes as ten indices, so a large pool for a small layer would save nothing."""
_LEAST_SIZE = 2


@dataclass(frozen=True, slots=True)
class Part:
    """The layers of one pool.

    Attributes:
        places: their places among the pooled layers of all networks.
        size: vectors of the pool.
    """

    places: tuple[int, ...]
    size: int


def parts_of(networks: Sequence[Network], options: WeightPoolOptions) -> tuple[Part, ...]:
    """The pools, in the order of their first layers.

    Args:
        networks: with the layers to pool; several share one pool.
        options: size and sharing.

    Raises:
        WeightPoolError: a pool would have more vectors than its layers.
    """
    layers = [(network, each) for network in networks for each in network.choice.pooled]
    places: dict[object, list[int]] = {}
    for place, (network, layer) in enumerate(layers):
        places.setdefault(_key(network, layer, place, options.sharing), []).append(place)
    parts = []
    for own in places.values():
        vectors = sum(layers[place][1].vectors for place in own)
        size = _size(vectors, options)
        if vectors < size:
            raise _too_few(vectors, size, [layers[place] for place in own], options.sharing)
        parts.append(Part(tuple(own), size))
    return tuple(parts)


def _key(network: Network, layer: PoolLayer, place: int, sharing: PoolSharing) -> object:
    match sharing:
        case PoolSharing.NETWORK:
            return None
        case PoolSharing.STAGE:
            return math.prod(network.graph.shape(layer.node.output)[:-1])
        case PoolSharing.LAYER:
            return place


def _size(vectors: int, options: WeightPoolOptions) -> int:
    """The size asked for, halved until the layers use each vector often enough; 2 at least."""
    size = options.size
    if options.sharing is PoolSharing.NETWORK:
        return size
    while size > _LEAST_SIZE and size * LEAST_USES > vectors:
        size = max(size // 2, _LEAST_SIZE)
        size -= size % 2 if options.signed else 0
    return size


def _too_few(
    vectors: int, size: int, layers: Sequence[tuple[Network, PoolLayer]], sharing: PoolSharing
) -> WeightPoolError:
    if sharing is PoolSharing.NETWORK:
        names = dict.fromkeys(network.graph.name for network, _ in layers)
        hint = "take a smaller --pool-size, or pool more layers with --layers"
    else:
        names = dict.fromkeys(layer.node.name for _, layer in layers)
        hint = "leave out what is so small with --layers, or take --pools network"
    return WeightPoolError(
        f"a pool of {size} vectors is larger than the {vectors} vectors of the layers",
        where=", ".join(names),
        hint=hint,
    )
