"""Number of pool vectors that are added up to one vector of a layer.

The noise that a layer adds to what a network computes depends on the relative error of its weights,
hardly on how many these are.  So bits are worth most where they reach few weights.  Terms are given
to layers so that the sum of all noise is least, as long as the bytes last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from edgec.base.errors import WeightPoolError
from edgec.base.limits import MAX_TERMS
from edgec.base.options import WeightPoolOptions
from edgec.ir.graph import Graph
from edgec.ir.weight_pool import index_bits
from edgec.weightpool.forecast import forecast
from edgec.weightpool.layers import Choice, choose_layers, matches
from edgec.weightpool.network import Network
from edgec.weightpool.report import packed_bytes
from edgec.weightpool.sharing import parts_of
from edgec.weightpool.vectors import PoolLayer

_UNITS = 50_000
"""Units in which a budget is counted, at most about."""


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


def spent(
    network: Network, noise: Sequence[Sequence[float]], options: WeightPoolOptions
) -> Network:
    """The network with the terms of least noise that the ratio leaves bytes for.

    Args:
        network: its layers have one term, or what rules give them.
        noise: what each pooled layer adds to the outputs with one term, with two, and so on, in any
            unit.
        options: the pool, rules and the ratio.

    Raises:
        WeightPoolError: one term for each layer is too much already.
    """
    choice = network.choice
    prices, left = _offers(network.graph, choice, options)
    gains = [[noise[place][0] - each for each in noise[place]] for place in prices]
    terms = [layer.terms for layer in choice.pooled]
    for place, more in zip(prices, best_choices([*prices.values()], gains, left), strict=True):
        terms[place] = 1 + more
    return replace(network, choice=_with_terms(choice, terms))


def most_spent(graph: Graph, choice: Choice, options: WeightPoolOptions) -> int:
    """The most bytes that terms can take of those that the ratio leaves.

    Args:
        graph: REAL stage, cleaned.
        choice: its layers to pool, of one term or what rules give them.
        options: the pool, rules and the ratio.

    Raises:
        WeightPoolError: one term for each layer is too much already.
    """
    offers, left = _offers(graph, choice, options)
    prices = [*offers.values()]
    chosen = best_choices(prices, prices, left)
    return sum(each[more] for each, more in zip(prices, chosen, strict=True))


def _offers(
    graph: Graph, choice: Choice, options: WeightPoolOptions
) -> tuple[dict[int, list[int]], int]:
    """Bytes that terms cost in each layer without a rule, and the bytes left for all.

    Raises:
        WeightPoolError: one term for each layer is too much already.
    """
    assert options.ratio is not None
    sizes = forecast(graph, choice, options)
    left = int(sizes.int8_bytes / options.ratio) - sizes.pooled_bytes
    if left < 0:
        raise WeightPoolError(
            f"everything stored is {sizes.compression:.2f} times smaller than in int8, less than "
            f"the {options.ratio:g} times of --ratio",
            where=graph.name,
            hint="take a smaller --pool-size, or a smaller --ratio",
        )
    layers, ruled = choice.pooled, _ruled(graph, choice.pooled, options)
    bits = _index_bits(graph, choice, options)
    prices = {
        place: _prices(layers[place].vectors, bits[place])
        for place, terms in enumerate(ruled)
        if terms is None
    }
    return prices, left


def _prices(vectors: int, bits: int) -> list[int]:
    """Bytes that one term, two terms and so on take, beyond those of one."""
    return [
        packed_bytes(vectors * (1 + more), bits) - packed_bytes(vectors, bits)
        for more in range(MAX_TERMS)
    ]


def best_choices(
    prices: Sequence[Sequence[int]], gains: Sequence[Sequence[float]], budget: int
) -> list[int]:
    """One choice for each of several things, of the greatest gain for a budget.

    Dynamic programming over the budget (Kellerer et al., "Knapsack Problems", 2004, chapter 11).

    Args:
        prices: the price of each choice for each thing; the first choice costs nothing.
        gains: the gain of each choice for each thing.
        budget: the most that all may cost; large ones are counted in units of 1/50,000.

    Returns:
        The number of the choice of each thing.
    """
    unit = max(1, budget // _UNITS)
    size = budget // unit + 1
    best = np.zeros(size)
    decided = []
    for costs, worths in zip(prices, gains, strict=True):
        offers = np.full((len(costs), size), -np.inf)
        for row, (cost, worth) in enumerate(zip(costs, worths, strict=True)):
            first = -(-cost // unit)
            if first < size:
                offers[row, first:] = best[: size - first] + worth
        decided.append(offers.argmax(axis=0))
        best = offers.max(axis=0)
    place, found = size - 1, []
    for costs, choices in zip(reversed(prices), reversed(decided), strict=True):
        chosen = int(choices[place])
        found.append(chosen)
        place -= -(-costs[chosen] // unit)
    return found[::-1]


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
            place for place, layer in enumerate(layers) if matches(layer.node, (rule.pattern,))
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
