"""Goal of a choice of precision, and what the choice is told of the board."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
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
        named: names of the tensors that have int16 codes, whatever they give; (): they are chosen.
    """

    target_db: float | None
    max_drop: float | None = None
    named: tuple[str, ...] = ()

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


class Space(Protocol):
    """The tensors of a network that could have int16 codes, and what that gives."""

    @property
    def names(self) -> tuple[str, ...]:
        """Their names, in graph order."""

    @property
    def members(self) -> Mapping[str, str]:
        """The tensor of `names` whose codes a value has, by name of the value."""

    def added(self) -> tuple[float, ...]:
        """Noise that the int8 codes of each add, as a share of an output's energy; such add up."""

    def noise(self, names: Sequence[str]) -> float:
        """Share of an output's energy that is noise with int16 codes for some, measured."""

    def drop(self, names: Sequence[str]) -> float:
        """Percentage points of decisions that are lost, measured."""

    def integer(self, names: Sequence[str]) -> Graph:
        """INTEGER stage with int16 codes for some, as it is lowered."""


Chooser = Callable[[Space], Sequence[str]]
"""Names the tensors with int16 codes."""
