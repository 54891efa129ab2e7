"""The order in which tensors need int16 codes, and how many of them a goal needs.

The noise that the int8 codes of one tensor add at an output is measured (`trial`), and such noises
add up, as they are nearly independent.  So the tensors that add most get int16 codes until what the
others add, with what int8 weights cost anyway, is as little as was asked for.  The choice is then
measured as a whole; where it falls short, more tensors follow.  Where equal decisions are asked
for, they are counted with the first half of the tensors in that order, and so on by bisection.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from edgec.quant.common.progress import Progress
from edgec.quant.precision.goal import Goal
from edgec.quant.precision.panel import Groups, Panel

_ROUNDS = 4
"""Measurements of a choice as a whole, each with more tensors than the one before."""
_OF_WEIGHTS = 0.023
"""Noise of int8 codes, as a share of all other, where int16 codes miss the accuracy: 0.1 dB."""

T = TypeVar("T")


class Order(Generic[T]):
    """The candidates of a network, those that add most noise first."""

    def __init__(self, panel: Panel[T], progress: Progress | None = None) -> None:
        """Measure what the int8 codes of each candidate add.

        Args:
            panel: measures.
            progress: told after each candidate.
        """
        self._panel = panel
        self._added = panel.added(progress)
        self._order = sorted(range(len(self._added)), key=lambda i: (-self._added[i], i))

    def first(self, count: int) -> Groups:
        """The candidates that matter most, in graph order."""
        return tuple(self._panel.groups[i] for i in sorted(self._order[:count]))

    def needed(self, goal: Goal) -> int:
        """Number of the first tensors that a goal needs."""
        everything = self._panel.groups
        most, count = self._panel.noise(everything), 0
        if goal.target_db is not None:
            count = self._by_noise(most, max(goal.noise, most * (1 + _OF_WEIGHTS)))
        if goal.max_drop is not None:
            # Losses by int8 weights cannot be undone.
            count = self._by_decisions(count, max(goal.drop, self._panel.drop(everything)))
        return count

    def _by_noise(self, most: float, budget: float) -> int:
        """Number of tensors needed for as little noise as the budget."""
        room = budget - most
        count = 0
        for _ in range(_ROUNDS):
            left = sum(self._added[i] for i in self._order[count:])
            while count < len(self._order) and left > room:
                left -= self._added[self._order[count]]
                count += 1
            noise = self._panel.noise(self.first(count))
            if noise <= budget or count == len(self._order):
                return count
            # The tensors left add more noise together than one by one.
            room *= 0.5 * (budget - most) / max(noise - most, 1e-30)
        return len(self._order)

    def _by_decisions(self, count: int, allowed: float) -> int:
        """Number of tensors, `count` or more, that lose no more decisions than allowed."""
        high = len(self._order)
        while count < high:
            middle = (count + high) // 2
            enough = self._panel.drop(self.first(middle)) <= allowed
            count, high = (count, middle) if enough else (middle + 1, high)
        return count
