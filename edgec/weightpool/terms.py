"""How many vectors of the pool are added up to one vector of a layer.

The noise that a layer adds to what a network computes depends on the relative error of its weights,
hardly on how many these are.  So bits are worth most where they reach few weights.  With b bits a
weight the least relative error is ``4**-b`` (of Gaussian weights; Cover & Thomas, "Elements of
Information Theory", 2nd ed., section 10.3).  One term after the other is given to the layer where
its noise, as measured with one term, falls most for each byte, as long as the bytes last.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from edgec.base.errors import WeightPoolError
from edgec.base.limits import MAX_TERMS
from edgec.base.options import WeightPoolOptions
from edgec.ir.graph import Graph
from edgec.ir.weight_pool import index_bits
from edgec.weightpool.forecast import forecast
from edgec.weightpool.layers import Choice, choose_layers, names_of
from edgec.weightpool.network import Network
from edgec.weightpool.report import packed_bytes
from edgec.weightpool.sharing import parts_of
from edgec.weightpool.vectors import PoolLayer


def chosen_layers(graph: Graph, options: WeightPoolOptions) -> Choice:
    """The layers to pool, with the terms that rules give them.

    Args:
        graph: REAL stage.
        options: layers and rules of terms.

    Raises:
        WeightPoolError: see `choose_layers`; or a rule matches no layer that is pooled.
    """
    choice = choose_layers(graph, options)
    ruled = _ruled(graph, choice.pooled, options)
    return _with_terms(choice, [terms or 1 for terms in ruled])


def spent(network: Network, noise: Sequence[float], options: WeightPoolOptions) -> Network:
    """The network with more terms, for the bytes that the ratio leaves.

    Args:
        network: its layers have one term, or what rules give them.
        noise: of each pooled layer, what it adds to the outputs with its present terms, in any
            unit.
        options: the pool, rules and the ratio.

    Raises:
        WeightPoolError: there is nothing left to spend.
    """
    assert options.ratio is not None
    graph, choice = network.graph, network.choice
    sizes = forecast(graph, choice, options)
    left = sizes.int8_bytes / options.ratio - sizes.pooled_bytes
    if left < 0:
        raise WeightPoolError(
            f"everything stored is {sizes.compression:.2f} times smaller than in int8, less than "
            f"the {options.ratio:g} times of --ratio",
            where=graph.name,
            hint="take a smaller --pool-size, or a smaller --ratio",
        )
    ruled = _ruled(graph, choice.pooled, options)
    free = [place for place, terms in enumerate(ruled) if terms is None]
    bits = _index_bits(graph, choice, options)
    terms = [layer.terms for layer in choice.pooled]

    def price(place: int) -> int:
        """Bytes of a term more."""
        vectors, count = choice.pooled[place].vectors, terms[place]
        more = packed_bytes(vectors * (count + 1), bits[place])
        return more - packed_bytes(vectors * count, bits[place])

    def worth(place: int) -> float:
        """What a byte of a term more takes off the noise."""
        share = math.pow(4.0, -bits[place] / options.group)
        now = noise[place] * math.pow(share, terms[place] - choice.pooled[place].terms)
        return (1 - share) * now / price(place)

    while True:
        able = [p for p in free if terms[p] < MAX_TERMS and price(p) <= left]
        if not able:
            return replace(network, choice=_with_terms(choice, terms))
        best = max(able, key=worth)
        left -= price(best)
        terms[best] += 1


def _with_terms(choice: Choice, terms: Sequence[int]) -> Choice:
    pooled = (replace(each, terms=count) for each, count in zip(choice.pooled, terms, strict=True))
    return replace(choice, pooled=tuple(pooled))


def _ruled(
    graph: Graph, layers: Sequence[PoolLayer], options: WeightPoolOptions
) -> list[int | None]:
    """The terms of each layer that the last rule says which matches it; None: none does."""
    found: list[int | None] = [None] * len(layers)
    for rule in options.terms:
        places = [
            place
            for place, layer in enumerate(layers)
            if any(fnmatchcase(name, rule.pattern) for name in names_of(layer.node))
        ]
        if not places:
            raise WeightPoolError(
                "matches no layer that is pooled",
                where=f"--terms {rule.pattern}={rule.terms} ({graph.name})",
                hint="pooled layers: " + ", ".join(layer.node.name for layer in layers[:12]),
            )
        for place in places:
            found[place] = rule.terms
    return found


def _index_bits(graph: Graph, choice: Choice, options: WeightPoolOptions) -> list[int]:
    """Bits of an index of each layer."""
    found = [0] * len(choice.pooled)
    for part in parts_of([Network(graph, None, choice)], options):
        for place in part.places:
            found[place] = index_bits(part.size)
    return found
