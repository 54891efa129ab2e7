"""The smallest of several networks that is good enough, with few of them made.

They are sorted by their bytes, and accuracy grows with bytes, nearly: a network with other pools
may be worse than a smaller one.  So halves are taken first, as if accuracy always grew, and then
smaller networks one after the other, until some in a row are not good enough.

The candidates are pools by the bytes that a network takes with them.  The cost of each on a board
is estimated without building it, and stands in the results beside bytes and accuracy.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from edgec.base.errors import InternalError, WeightPoolError
from edgec.base.options import (
    Optimize,
    PoolKernelOptions,
    PoolSharing,
    WeightPoolOptions,
    no_progress,
)
from edgec.ir.graph import Graph
from edgec.kernels.buffers import buffers_of
from edgec.kernels.select import select_kernels
from edgec.memory import plan_memory
from edgec.target.board import Board
from edgec.target.target import Target
from edgec.weightpool import chosen_layers, forecast, most_spent
from edgec.workflow.integer import IntegerModel
from edgec.workflow.weight_pool_kernels import plan_pooled_layers

_MISSES = 3
"""This many smaller networks in a row that are not good enough end the search."""


def most_trials(count: int) -> int:
    """The most networks of `count` that a search makes where accuracy grows with bytes.

    It makes more where a smaller one is good enough after larger ones were not.
    """
    return min(count, count.bit_length() + _MISSES - 1)


def smallest(count: int, holds: Callable[[int], bool]) -> int | None:
    """The number of the smallest network that is good enough, as far as the search goes.

    Args:
        count: networks, numbered in the order of their bytes.
        holds: whether a network is good enough; called once for each that is tried.

    Returns:
        None where none that was tried is good enough; the largest is among these.
    """
    tried: dict[int, bool] = {}

    def is_good(number: int) -> bool:
        if number not in tried:
            tried[number] = holds(number)
        return tried[number]

    low, best = -1, count
    while best - low > 1:
        middle = (low + best) // 2
        if is_good(middle):
            best = middle
        else:
            low = middle
    number, misses = best - 1, 0
    while number >= 0 and misses < _MISSES:
        if is_good(number):
            best, misses = number, 0
        else:
            misses += 1
        number -= 1
    return best if best < count else None


SIZES = (16, 32, 64, 128, 256, 512, 1024)
"""Sizes of pools to choose from."""
SUM_SIZES = (32, 64, 128)
"""Sizes of pools of which vectors are added up as well."""
SUM_STEPS = (1.05, 1.1, 1.2, 1.4, 1.7, 2.0)
"""Sizes of a network with sums relative to that with one term each, to try in turn."""


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


@dataclass(frozen=True, slots=True, eq=False)
class PoolFigures:
    """A network on a board.

    Attributes:
        graph: INTEGER stage: what the kernels that were chosen compute.
        cycles: estimated, of the layers with pooled weights; None: there is no estimate.
        arena_bytes: SRAM of activations and scratch memory.
    """

    graph: Graph
    cycles: int | None
    arena_bytes: int


def pool_figures(ready: IntegerModel, board: Board) -> PoolFigures:
    """Plan a network with pooled weights for a board, with 8 bits of activations.

    Raises:
        WeightPoolError, ConfigError: see `plan_pooled_layers`.
    """
    planned, plan = plan_pooled_layers(
        ready, board, PoolKernelOptions(), Optimize.SPEED, no_progress
    )
    graph = planned.integer
    choices = select_kernels(graph, Target.of(board), plan.configs)
    buffers, overlaps, _ = buffers_of(graph, choices)
    found = [layer.cycles for layer in plan.layers]
    known = [cycles for cycles in found if cycles is not None]
    cycles = sum(known) if known and len(known) == len(found) else None
    return PoolFigures(graph, cycles, plan_memory(buffers, overlaps).arena_bytes)


NO_TEST = (
    "the samples of --eval chose the pools, so their accuracy is no test result: measure it on "
    "samples that are in no other file"
)
"""Note for readers of a curve."""
_ROUNDING = 1e-9
"""Accuracies that differ by less are equal: shares and percentages are rounded."""


def is_enough(accuracy: float, real: float, max_drop: float) -> bool:
    """Whether an accuracy is at most this many percentage points below that of the float model."""
    return accuracy >= real - max_drop / 100 - _ROUNDING


def point_name(sharing: str, size: int, ratio: float | None) -> str:
    """Sharing, size and, of sums of vectors, the ratio: what `edgec compress` is asked for."""
    return f"{sharing}:{size}" + ("" if ratio is None else f":{ratio:g}")


@dataclass(frozen=True, slots=True)
class PoolPoint:
    """A network with some pools.

    Attributes:
        sharing: which layers share a pool: "network", "stage", "layer".
        size: most vectors of a pool.
        ratio: how many times smaller than in int8 everything was to be, with sums of vectors; None:
            a vector of a layer is one of its pool.
        pools: number of pools.
        stored_bytes: weights, pools, biases and multipliers, as the report counts them.
        compression: bytes of the int8 network over these.
        accuracy: share of samples that its integers tell right.
        cycles: estimated, of the layers with pooled weights; None: no board, or no estimate.
        arena_bytes: SRAM of activations and scratch memory; None: there is no board.
    """

    sharing: str
    size: int
    ratio: float | None
    pools: int
    stored_bytes: int
    compression: float
    accuracy: float
    cycles: int | None = None
    arena_bytes: int | None = None

    @property
    def name(self) -> str:
        """See `point_name`."""
        return point_name(self.sharing, self.size, self.ratio)


@dataclass(frozen=True, slots=True)
class PoolCurve:
    """A search.

    Attributes:
        model: name of the network, untrusted.
        board: the board's name in words; "" without one.
        n: samples that decided.
        max_drop: percentage points below `real` that are allowed.
        real: share of these samples that the float model tells right.
        int8: share that it tells right as int8 network.
        int8_bytes: what the int8 network stores.
        configurations: how many there were to choose from.
        points: those that were tried, by bytes.
        chosen: the number of the chosen one among them; None: none is good enough.
    """

    model: str
    board: str
    n: int
    max_drop: float
    real: float
    int8: float
    int8_bytes: int
    configurations: int
    points: tuple[PoolPoint, ...]
    chosen: int | None

    @property
    def best(self) -> PoolPoint:
        """The chosen point.

        Raises:
            InternalError: there is none.
        """
        if self.chosen is None:
            raise InternalError("no pools were chosen", where=self.model)
        return self.points[self.chosen]

    @property
    def goal(self) -> float:
        """The least accuracy that is good enough, 0 where any is."""
        return max(self.real - self.max_drop / 100, 0.0)

    def to_json(self) -> dict[str, Any]:
        """Plain JSON data."""
        return dataclasses.asdict(self)
