"""What a choice of precision is to reach, and the memory that it may take."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from edgec.ir.graph import Graph


@dataclass(frozen=True, slots=True)
class Goal:
    """What the fewest tensors are to give.

    Attributes:
        target_db: signal to noise of every output; None: any.
        max_drop: percentage points of decisions that may be others than those of the float network;
            None: any.
    """

    target_db: float | None
    max_drop: float | None = None

    @property
    def noise(self) -> float:
        """The largest share of an output's energy that may be noise."""
        return math.inf if self.target_db is None else float(10.0 ** (-self.target_db / 10.0))

    @property
    def drop(self) -> float:
        """Percentage points of decisions that may be lost."""
        return math.inf if self.max_drop is None else self.max_drop


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """The memory that activations may take, and what int16 ones cost on the board.

    Attributes:
        arena_bytes: what an integer graph, as it is lowered, needs on the board.
        limit_bytes: what the board has; None: no limit.
        slowdown: estimates how many times as long the layers of an integer graph take as with int8
            activations; None where nothing is known of the core.
    """

    arena_bytes: Callable[[Graph], int]
    limit_bytes: int | None
    slowdown: Callable[[Graph], float | None] = lambda _: None

    def fits(self, graph: Graph) -> bool:
        """Whether a graph fits."""
        return self.limit_bytes is None or self.arena_bytes(graph) <= self.limit_bytes
