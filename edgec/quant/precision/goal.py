"""Goal of a choice of precision, and what the choice is told of the board."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from edgec.ir.graph import Graph


@dataclass(frozen=True, slots=True)
class Goal:
    """Accuracy that the fewest tensors are to give.

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


@dataclass(frozen=True, slots=True)
class NetworkPrice:
    """A network on a board.

    Attributes:
        arena_bytes: SRAM of activations and scratch memory.
        layer_cycles: estimated cycles of the layers with weights; None: nothing is known of them.
    """

    arena_bytes: int
    layer_cycles: float | None = None


class Prices(Protocol):
    """A board as the choice of precision sees it; who knows kernels and memory implements it."""

    def price(self, graph: Graph) -> NetworkPrice:
        """The price of a graph.

        Args:
            graph: INTEGER stage, as it is lowered.
        """

    def fits(self, graph: Graph) -> bool:
        """Whether the board has the memory for a graph, as it is lowered."""
