"""The order in which the steps of a program with loops are called."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StepLoop:
    """Steps that are repeated.

    Attributes:
        name: from the model, untrusted.
        count: number of turns.
        first_step, end_step: the first step, and the first one after the last.
    """

    name: str
    count: int
    first_step: int
    end_step: int

    def holds(self, step: int) -> bool:
        """Whether a step is repeated."""
        return self.first_step <= step < self.end_step


@dataclass(frozen=True, slots=True)
class Call:
    """One output of the call of a step in certain turns.

    Attributes:
        step: its number.
        turns: the turn of each loop around it, from the outermost on.
        number: outputs of the step before this one in the run.
        output: which of the outputs of a call it is.
    """

    step: int
    turns: tuple[int, ...] = ()
    number: int = 0
    output: int = 0


def loops_around(loops: Sequence[StepLoop], step: int) -> tuple[StepLoop, ...]:
    """The loops that repeat a step, from the outermost on.

    Args:
        loops: an outer loop before those within it.
        step: number of the step.
    """
    return tuple(loop for loop in loops if loop.holds(step))


def times_called(loops: Sequence[StepLoop], step: int) -> int:
    """Number of calls of a step in a run."""
    return math.prod(loop.count for loop in loops_around(loops, step))


def calls_of(loops: Sequence[StepLoop], outputs: Sequence[int]) -> Iterator[Call]:
    """Every output of every call of a run, in order.

    Args:
        loops: an outer loop before those within it.
        outputs: number of outputs of each step.
    """
    yield from _calls(loops, outputs, range(len(outputs)), (), 0)


def _calls(
    loops: Sequence[StepLoop],
    outputs: Sequence[int],
    steps: range,
    turns: tuple[int, ...],
    number: int,
) -> Iterator[Call]:
    """The calls of some steps in a turn of the loops around them, the `number`-th turn of all."""
    step = steps.start
    while step < steps.stop:
        around = loops_around(loops, step)
        if len(around) == len(turns):
            for output in range(outputs[step]):
                yield Call(step, turns, number * outputs[step] + output, output)
            step += 1
            continue
        loop = around[len(turns)]
        inside = range(loop.first_step, loop.end_step)
        for turn in range(loop.count):
            more = (*turns, turn), number * loop.count + turn
            yield from _calls(loops, outputs, inside, *more)
        step = loop.end_step
