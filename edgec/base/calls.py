"""The order in which the steps of a program with loops are called."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from edgec.base.digests import LATER


@dataclass(frozen=True, slots=True)
class Firing:
    """The turns of a loop in which a step runs.

    It computes `rows` rows of its output each time, beginning with row 0, in the turns ``phase +
    period * i`` for i in ``[0, count)``.  For `padding` times more it only writes rows of padding.

    Attributes:
        phase: the first turn.
        period: turns from one time to the next.
        count: times that it computes.
        rows: rows of a time.
        padding: times after these that give rows of padding.
        columns: where it computes a patch, the first column of the whole image that its output then
            holds, and the first one after them; none where later steps complete the rows.
    """

    phase: int
    period: int
    count: int
    rows: int
    padding: int = 0
    columns: tuple[int, int] | None = field(default=None, metadata=LATER)

    @property
    def end(self) -> int:
        """The first turn after the last time."""
        return self.phase + self.period * (self.count + self.padding - 1) + 1

    def number(self, turn: int) -> int | None:
        """The time that lies in a turn, padding included; None if there is none."""
        time, rest = divmod(turn - self.phase, self.period)
        return time if not rest and 0 <= time < self.count + self.padding else None


@dataclass(frozen=True, slots=True)
class StepLoop:
    """Steps that are repeated.

    Attributes:
        name: from the model, untrusted.
        count: number of turns.
        first_step, end_step: the first step, and the first one after the last.
        firings: for each of the steps the turns in which it runs; empty: it runs in all.
        varies: `count` is that of the longest run; one that is shorter by 1 has a turn less.
    """

    name: str
    count: int
    first_step: int
    end_step: int
    firings: tuple[Firing, ...] = field(default=(), metadata=LATER)
    varies: bool = field(default=False, metadata=LATER)

    def less(self, less: int) -> StepLoop:
        """The loop in a run that is shorter by `less` than the longest."""
        return replace(self, count=self.count - less) if self.varies else self

    def firing(self, step: int) -> Firing | None:
        """The turns in which a step runs; None: all of them."""
        return self.firings[step - self.first_step] if self.firings else None

    def times(self, step: int) -> int:
        """Number of calls of a step in all turns."""
        firing = self.firing(step)
        return self.count if firing is None else firing.count

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
        first_row: where the call computes a part of the rows of the output, the first of them; its
            number among the calls of the step then is the last turn.
        columns: see `Firing`.
    """

    step: int
    turns: tuple[int, ...] = ()
    number: int = 0
    output: int = 0
    first_row: int | None = None
    columns: tuple[int, int] | None = None


def loops_around(loops: Sequence[StepLoop], step: int) -> tuple[StepLoop, ...]:
    """The loops that repeat a step, from the outermost on.

    Args:
        loops: an outer loop before those within it.
        step: number of the step.
    """
    return tuple(loop for loop in loops if loop.holds(step))


def times_called(loops: Sequence[StepLoop], step: int) -> int:
    """Number of calls of a step in a run."""
    return math.prod(loop.times(step) for loop in loops_around(loops, step))


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
        if loop.firings:
            yield from _fired(loop, outputs)
            step = loop.end_step
            continue
        inside = range(loop.first_step, loop.end_step)
        for turn in range(loop.count):
            more = (*turns, turn), number * loop.count + turn
            yield from _calls(loops, outputs, inside, *more)
        step = loop.end_step


def _fired(loop: StepLoop, outputs: Sequence[int]) -> Iterator[Call]:
    """The calls of a loop whose steps run in some of its turns; no other loop is around it."""
    for turn in range(loop.count):
        for step, firing in enumerate(loop.firings, loop.first_step):
            time = firing.number(turn)
            if time is not None and time < firing.count:
                for output in range(outputs[step]):
                    number = time * outputs[step] + output
                    first_row = time * firing.rows
                    yield Call(step, (time,), number, output, first_row, firing.columns)
