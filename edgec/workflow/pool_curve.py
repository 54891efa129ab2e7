"""What a search over weight pools tried: bytes, accuracy, and what a board needs."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from edgec.base.errors import InternalError

NO_TEST = (
    "the samples of --eval chose the pools, so their accuracy is no test result: measure it on "
    "samples that are in no other file"
)
"""What readers of a curve should know."""
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
