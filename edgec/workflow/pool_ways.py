"""The pools that a search chooses from, by the bytes that a network takes with them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass

from edgec.base.errors import WeightPoolError
from edgec.base.options import PoolSharing, WeightPoolOptions
from edgec.ir.graph import Graph
from edgec.weightpool import chosen_layers, forecast, most_spent

SIZES = (16, 32, 64, 128, 256, 512, 1024)
"""Sizes of pools to choose from."""
SUM_SIZES = (32, 64, 128)
"""Sizes of pools of which vectors are added up as well."""
SUM_STEPS = (1.05, 1.1, 1.2, 1.4, 1.7, 2.0)
"""How much more a network with sums may take than with one term each."""


@dataclass(frozen=True, slots=True)
class Way:
    """A network's pools before they are made.

    Attributes:
        options: how they are made.
        most_bytes: everything that is stored takes no more; without a ratio, just as many.
        int8_bytes: what is stored of the int8 network.
    """

    options: WeightPoolOptions
    most_bytes: int
    int8_bytes: int


def ways_of(
    graph: Graph, pool: WeightPoolOptions, sharings: tuple[PoolSharing, ...]
) -> tuple[Way, ...]:
    """Pools that save something, by their bytes; of equal ones the first.

    Sums of vectors are offered for the first of the sharings.

    Args:
        graph: REAL stage, cleaned.
        pool: options, apart from size, sharing and ratio.
        sharings: which layers may share a pool; at least one.

    Raises:
        WeightPoolError: there are none.
    """
    found: dict[int, Way] = {}
    troubles: list[WeightPoolError] = []
    for sharing in sharings:
        for size in SIZES:
            options = dataclasses.replace(pool, sharing=sharing, size=size)
            with_sums = sharing is sharings[0] and size in SUM_SIZES
            try:
                for way in _of_size(graph, options, with_sums=with_sums):
                    if way.most_bytes < way.int8_bytes:
                        found.setdefault(way.most_bytes, way)
            except WeightPoolError as error:
                troubles.append(error)
    if not found and len(troubles) == len(sharings) * len(SIZES):
        raise troubles[0]
    if not found:
        raise WeightPoolError(
            "no pools save anything: they take as much as the weights in their place",
            where=graph.name,
            hint="pool more layers or larger ones: --layers",
        )
    return tuple(found[size] for size in sorted(found))


def _of_size(graph: Graph, options: WeightPoolOptions, *, with_sums: bool) -> Iterator[Way]:
    """Pools of one size: with the terms that rules say, and with more for more bytes."""
    choice = chosen_layers(graph, options)
    sizes = forecast(graph, choice, options)
    yield Way(options, sizes.pooled_bytes, sizes.int8_bytes)
    for step in SUM_STEPS if with_sums else ():
        # Two places, as it is shown: `--ratio` with that number makes the same network.
        ratio = math.floor(100 * sizes.compression / step) / 100
        if ratio > 1:
            sums = dataclasses.replace(options, ratio=ratio)
            if spent := most_spent(graph, choice, sums):
                yield Way(sums, sizes.pooled_bytes + spent, sizes.int8_bytes)
