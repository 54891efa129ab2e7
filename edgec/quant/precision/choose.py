"""Which tensors get int16 codes: all, or the fewest that a goal asks for.

They are chosen (`order`) on fits of the network to parts of the calibration samples, and everything
is measured on those that a fit has not seen (`held`, `judge`).  What is compiled has the same
tensors in int16 and is fitted to all samples, which is no worse than a fit to a part of them: so
what was measured stays what to expect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from edgec.base.dtypes import Array
from edgec.base.options import Precision
from edgec.ir.graph import Graph
from edgec.quant.common.calibrate import Progress
from edgec.quant.common.quality import share_db
from edgec.quant.common.report import PrecisionReport
from edgec.quant.precision.fits import Fit, Fits
from edgec.quant.precision.goal import Goal, Room
from edgec.quant.precision.held import folds
from edgec.quant.precision.judge import Judge, budget
from edgec.quant.precision.order import Order
from edgec.quant.precision.panel import Groups, Panel

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Choice(Generic[T]):
    """What was chosen.

    Attributes:
        made: what the integer graph was made of, fitted to all samples.
        integer: INTEGER stage, with the int16 codes that were chosen.
        report: what is int16, and what that gives.
    """

    made: T
    integer: Graph
    report: PrecisionReport


def choose(
    fits: Callable[[Mapping[str, Array]], Fits[T]],
    data: Mapping[str, Array],
    precision: Precision,
    goal: Goal,
    room: Room | None = None,
    progress: Progress | None = None,
) -> Choice[T]:
    """The tensors that have int16 codes: all, or as few as reach the goal.

    Args:
        fits: fits the network to samples.
        data: from `checked_calibration`.
        precision: INT16 or AUTO.
        goal: what the fewest tensors are to give.
        room: the memory of the board; None: it is not known.
        progress: told after each tensor.

    Raises:
        ConfigError: the goal is in decisions, and no output names a class.
    """
    final = fits(data)
    parts = folds(data)
    trials = [fits(part.fitted) for part in parts] or [final]
    judged = [part.judged for part in parts] or [data]
    choosing = _Choosing(trials, final, judged, goal, room, held_back=bool(parts))
    return choosing.chosen(precision, progress)


class _Choosing(Generic[T]):
    """One choice: the fits that it is made on, and the one that is compiled."""

    def __init__(
        self,
        trials: Sequence[Fits[T]],
        final: Fits[T],
        judged: Sequence[Mapping[str, Array]],
        goal: Goal,
        room: Room | None,
        *,
        held_back: bool,
    ) -> None:
        self._trials, self._final, self._held_back = trials, final, held_back
        self._goal, self._room = goal, room
        narrow = [each.narrow for each in trials]
        samples = budget(narrow[0].real, len(narrow[0].candidates.groups), len(trials))
        decides = goal.max_drop is not None
        self._judges = [
            Judge(fit.real, fit.integer(()), data, samples, decides=decides)
            for fit, data in zip(narrow, judged, strict=True)
        ]
        self._narrow = Panel(narrow, self._judges)

    def chosen(self, precision: Precision, progress: Progress | None) -> Choice[T]:
        """All candidates, or as few as reach the goal."""
        if precision is Precision.AUTO and self._suffices_int8():
            return self._made(self._final.narrow, self._narrow, ())
        panel = Panel([each.wide for each in self._trials], self._judges)
        final = self._final.wide
        if precision is not Precision.AUTO:
            return self._made(final, panel, panel.groups)
        order = Order(panel, progress)
        needed = order.needed(self._goal)
        fitting = self._fitting(final, order, needed)
        return self._made(final, panel, order.first(fitting), needed - fitting)

    def _suffices_int8(self) -> bool:
        goal, narrow = self._goal, self._narrow
        return narrow.noise(()) <= goal.noise and narrow.drop(()) <= goal.drop

    def _fitting(self, final: Fit[T], order: Order[T], count: int) -> int:
        """How many of the first `count` candidates fit the board: as many as they can be."""
        room = self._room
        if room is None or room.fits(final.integer(order.first(count))):
            return count
        low, high = 0, count
        while high - low > 1:
            middle = (low + high) // 2
            fits = room.fits(final.integer(order.first(middle)))
            low, high = (middle, high) if fits else (low, middle)
        return low

    def _made(self, final: Fit[T], panel: Panel[T], groups: Groups, left_out: int = 0) -> Choice[T]:
        """What is compiled, and what was measured of the trials."""
        narrow, room = self._narrow, self._room
        integer = final.integer(groups)
        wide = [group for group in groups if group.members[0] in final.candidates.codes]
        plain = self._final.narrow.integer(()) if room is not None else integer
        report = PrecisionReport(
            tensors=tuple(group.sources[0] for group in wide),
            candidates=len(final.candidates.groups),
            output_db=share_db(panel.noise(groups)),
            int8_db=share_db(narrow.noise(())),
            int16_db=share_db(panel.noise(panel.groups)),
            samples=sum(judge.samples for judge in self._judges),
            held_back=self._held_back,
            arena_bytes=None if room is None else room.arena_bytes(integer),
            int8_arena_bytes=None if room is None else room.arena_bytes(plain),
            left_out=left_out,
            slowdown=None if room is None else room.slowdown(integer),
            decisions=panel.decided(groups),
            int8_decisions=narrow.decided(()),
            int16_decisions=panel.decided(panel.groups),
        )
        return Choice(final.made, integer, report)
