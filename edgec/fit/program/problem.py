"""A choice of int16 codes and weights of few bits under limits, in numbers.

What is chosen has names: tensors that get int16 codes, and ways of a layer's weights.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

State = frozenset[str]
"""The tensors with int16 codes and the ways of weights, of those that matter to something."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Price of a layer in one state.

    Attributes:
        cycles: those of a run.
        constant_bytes: its weights, biases and tables.
        functions: keys of the functions that it needs; layers with equal keys share them.
    """

    cycles: float
    constant_bytes: int
    functions: frozenset[Hashable]


@dataclass(frozen=True, slots=True)
class Cell:
    """A layer whose price depends on the codes of a few tensors.

    Attributes:
        name: name of the layer's output.
        tensors: those that its price depends on, and the ways of its weights, of which a state has
            one at most.
        costs: by state; None: the layer is not there in that state.  States that nobody priced
            cannot be chosen.
    """

    name: str
    tensors: State
    costs: Mapping[State, Cost | None]


@dataclass(frozen=True, slots=True)
class Need:
    """Bytes of the arena that a step needs: `base` and `more` for each tensor with int16 codes."""

    base_bytes: int
    more: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Cut:
    """A plan that was made: no superset of its int16 tensors needs a smaller arena.

    Attributes:
        tensors: the int16 tensors of the plan.
        arena_bytes: what it needs.
        weight_bytes: constants that it copies to RAM.  A larger arena may leave room for fewer, so
            that this number holds for these tensors alone.
    """

    tensors: State
    arena_bytes: int
    weight_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a build; infinity: none.

    Attributes:
        cycles: those of a run.
        flash_bytes: image of the firmware.
        ram_bytes: all RAM of the firmware.
        noise: share of an output's energy.
    """

    cycles: float = math.inf
    flash_bytes: float = math.inf
    ram_bytes: float = math.inf
    noise: float = math.inf


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of a choice, predicted or measured.

    Attributes:
        cycles: those of a run.
        flash_bytes: image of the firmware.
        ram_bytes: all RAM of the firmware.
        noise: share of an output's energy; NaN where nobody measures it.
    """

    cycles: float
    flash_bytes: float
    ram_bytes: float
    noise: float

    @property
    def decibels(self) -> float:
        """Signal to noise ratio in dB; NaN where nobody measures it."""
        return -10.0 * math.log10(self.noise) if self.noise > 0 else math.nan

    def excess(self, bounds: Bounds) -> float:
        """By how much the limits are exceeded, as shares of them added up; 0: it is within."""
        pairs = (
            (self.cycles, bounds.cycles),
            (self.flash_bytes, bounds.flash_bytes),
            (self.ram_bytes, bounds.ram_bytes),
            (self.noise, bounds.noise),
        )
        return sum(max(found / most - 1.0, 0.0) for found, most in pairs if math.isfinite(most))


@dataclass(frozen=True, slots=True)
class Problem:
    """The tensors of a network under one setting of what is global.

    Attributes:
        tensors: those that could have int16 codes, in graph order.
        cells: its layers.
        functions: bytes of each function's code.
        needs: bytes of the arena by step.
        noises: noise that the int8 codes of each tensor add, and each way of weights; noises add
            up.
        floor: noise with int16 codes for all of them.
        flash_bytes: flash beside constants and functions of layers.
        ram_bytes: RAM beside the arena.
        copied: share of the constants that lies in RAM, too, where no plan says how many do.
        cuts: plans of memory that were made.
        excluded: choices that are not asked for.
        int8_noise: noise of the network fitted for int8 codes alone; NaN: nobody measured it.
        ways: weights of few bits that layers could have, in graph order.
    """

    tensors: tuple[str, ...]
    cells: Sequence[Cell]
    functions: Mapping[Hashable, float]
    needs: Sequence[Need]
    noises: Mapping[str, float]
    floor: float
    flash_bytes: float
    ram_bytes: float
    copied: float = 0.0
    cuts: Sequence[Cut] = field(default=())
    excluded: Sequence[State] = field(default=())
    int8_noise: float = math.nan
    ways: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All that can be chosen: tensors, then ways of weights."""
        return (*self.tensors, *self.ways)

    def figures(self, chosen: Collection[str]) -> Figures | None:
        """Predicted figures of a choice; None where a state of a cell was not priced.

        Args:
            chosen: the tensors with int16 codes, and ways of weights.
        """
        int16 = frozenset(chosen)
        costs: list[Cost] = []
        for cell in self.cells:
            state = cell.tensors & int16
            if state not in cell.costs:
                return None
            cost = cell.costs[state]
            if cost is not None:
                costs.append(cost)
        return self.figures_of(int16, costs)

    def figures_of(self, chosen: State, costs: Sequence[Cost]) -> Figures:
        """Predicted figures of a choice whose layers are known.

        Args:
            chosen: the tensors with int16 codes, and ways of weights.
            costs: the prices of all of its cells.
        """
        constants = sum(cost.constant_bytes for cost in costs)
        code = sum(self.functions[key] for key in {key for cost in costs for key in cost.functions})
        arena = max(
            (n.base_bytes + sum(n.more[t] for t in sorted(n.more.keys() & chosen)))
            for n in self.needs
        )
        arena = max([arena, *(cut.arena_bytes for cut in self.cuts if cut.tensors <= chosen)])
        weights = self.copied * constants
        planned = next((cut for cut in self.cuts if cut.tensors == chosen), None)
        if planned is not None:
            arena, weights = planned.arena_bytes, float(planned.weight_bytes)
        return Figures(
            cycles=sum(cost.cycles for cost in costs),
            flash_bytes=self.flash_bytes + constants + code,
            ram_bytes=self.ram_bytes + arena + weights,
            noise=self.noise(chosen),
        )

    def beside(
        self, chosen: Collection[str], bounds: Bounds
    ) -> Iterator[tuple[tuple[str, ...], Figures]]:
        """Choices that differ in one tensor and are within the limits, but for noise.

        Args:
            chosen: the tensors with int16 codes, and ways of weights.
            bounds: limits.

        Yields:
            What is chosen, with one int16 tensor or more, by `names`, and predicted figures.
        """
        for each in self.tensors:
            found = frozenset(chosen) ^ {each}
            is_new = found not in self.excluded and not found.isdisjoint(self.tensors)
            figures = self.figures(found) if is_new else None
            if figures is not None and replace(figures, noise=0.0).excess(bounds) <= 0.0:
                yield self.in_order(found), figures

    def in_order(self, chosen: Collection[str]) -> tuple[str, ...]:
        """A choice by `names`."""
        return tuple(name for name in self.names if name in chosen)

    def drawn(
        self, bounds: Bounds, count: int, ways: Collection[str] = ()
    ) -> Iterator[tuple[str, ...]]:
        """Random choices that use up what limits leave: no tensor more could be int16.

        Tensors come in a random order, and each is int16 where the limits, but for noise, are kept.

        Args:
            bounds: limits.
            count: orders that are drawn.
            ways: weights of few bits that all of them have.

        Yields:
            What is chosen, with one int16 tensor or more, by `names`; the same ones at each call,
            each once.
        """
        dice, seen = random.Random(0), set[State]()
        for _ in range(count):
            int16 = frozenset(ways)
            for each in dice.sample(self.tensors, len(self.tensors)):
                figures = self.figures(int16 | {each})
                if figures is not None and replace(figures, noise=0.0).excess(bounds) <= 0.0:
                    int16 |= {each}
            if int16 not in seen and not int16.isdisjoint(self.tensors):
                seen.add(int16)
                yield self.in_order(int16)

    def noise(self, chosen: Collection[str]) -> float:
        """Share of an output's energy that is noise; int8 everywhere is fitted for itself."""
        narrow = sum(self.noises[way] for way in self.ways if way in chosen)
        if not any(tensor in chosen for tensor in self.tensors):
            return self.int8_noise + narrow
        return self.floor + narrow + sum(self.noises[t] for t in self.tensors if t not in chosen)
