"""Choice of the tensors with int16 codes: all, or the fewest that a goal asks for, or none.

Where int8 codes alone do better, none: what int16 codes leave of an error that the biases of int8
codes made up for may be worse.

They are chosen (`order`) on fits of the network to parts of the calibration samples, and everything
is measured on those that a fit has not seen (`held`, `judge`).  What is compiled has the same
tensors in int16 and is fitted to all samples, which is no worse than a fit to a part of them: so
what was measured stays what to expect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from edgec.base.dtypes import Array
from edgec.base.errors import ConfigError
from edgec.base.names import shown
from edgec.base.options import Precision
from edgec.ir.graph import Graph
from edgec.passes.base import Pass, run_passes
from edgec.quant.common.progress import Progress
from edgec.quant.common.quality import share_db
from edgec.quant.common.report import PrecisionReport
from edgec.quant.precision.goal import Chooser, Goal, NetworkPrice, Prices
from edgec.quant.precision.held import Fit, Fits, folds
from edgec.quant.precision.judge import Judge, budget
from edgec.quant.precision.order import Order
from edgec.quant.precision.panel import Groups, Panel

T = TypeVar("T")
_SHOWN = 6
"""Names that a message shows at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Choice(Generic[T]):
    """Result of the choice.

    Attributes:
        made: what the integer graph was made of, fitted to all samples.
        integer: INTEGER stage, with the int16 codes that were chosen.
        report: what is int16, and what that gives.
        groups: the groups of tensors with int16 codes.
        wide: whether the fit is one for int16 codes.
    """

    made: T
    integer: Graph
    report: PrecisionReport
    groups: Groups = ()
    wide: bool = False

    def again(self, fits: Fits[T]) -> Graph:
        """The integer graph of other fits, with the same tensors in int16."""
        fit = fits.wide if self.wide else fits.narrow
        return fit.integer(self.groups)


def choose(
    fits: Callable[[Mapping[str, Array]], Fits[T]],
    data: Mapping[str, Array],
    precision: Precision,
    goal: Goal,
    prices: Prices | None = None,
    passes: tuple[Pass, ...] = (),
    progress: Progress | None = None,
    chooser: Chooser | None = None,
    reference: Graph | None = None,
) -> Choice[T]:
    """The tensors that have int16 codes: all, or as few as reach the goal.

    Args:
        fits: fits the network to samples.
        data: from `checked_calibration`.
        precision: INT16 or AUTO.
        goal: what the fewest tensors are to give.
        prices: the board; None: it is not known.
        passes: those that follow on the integer graph before it is lowered.
        progress: told after each tensor.
        chooser: names the tensors in place of the goal.
        reference: float network to judge by, REAL stage, outputs of the same names; None: the one
            that is fitted.

    Raises:
        ConfigError: the goal is in decisions, and no output names a class; or it names tensors that
            cannot have int16 codes.
    """
    final = fits(data)
    parts = folds(data)
    trials = [fits(part.fitted) for part in parts] or [final]
    judged = [part.judged for part in parts] or [data]
    choosing = _Choosing(
        *(trials, final, judged, goal, prices, passes, reference), held_back=bool(parts)
    )
    if chooser is None:
        return choosing.chosen(precision, progress)
    return choosing.named(chooser(choosing))


class _Choosing(Generic[T]):
    """One choice: the fits that it is made on, and the one that is compiled."""

    def __init__(
        self,
        trials: Sequence[Fits[T]],
        final: Fits[T],
        judged: Sequence[Mapping[str, Array]],
        goal: Goal,
        prices: Prices | None,
        passes: tuple[Pass, ...],
        reference: Graph | None,
        *,
        held_back: bool,
    ) -> None:
        self._trials, self._final, self._held_back = trials, final, held_back
        self._goal, self._prices, self._passes = goal, prices, passes
        narrow = [each.narrow for each in trials]
        samples = budget(narrow[0].real, len(narrow[0].candidates.groups), len(trials))
        decides = goal.max_drop is not None
        self._judges = [
            Judge(reference or fit.real, fit.integer(()), data, samples, decides=decides)
            for fit, data in zip(narrow, judged, strict=True)
        ]
        self._narrow = Panel(narrow, self._judges)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tensors to choose from, in graph order (`Space`)."""
        return tuple(group.sources[0] for group in self._final.wide.candidates.groups)

    @property
    def members(self) -> Mapping[str, str]:
        """The tensor of `names` whose codes a value has, by name of the value."""
        groups = self._final.wide.candidates.groups
        return {name: group.sources[0] for group in groups for name in group.members}

    def added(self) -> tuple[float, ...]:
        """Noise that the int8 codes of each of them add, as a share of an output's energy."""
        return tuple(self._wide.added(closely=True))

    def noise(self, names: Sequence[str]) -> float:
        """Share of an output's energy that is noise with int16 codes for some, measured."""
        return self._panel_of(names).noise(self._groups(names))

    def drop(self, names: Sequence[str]) -> float:
        """Percentage points of decisions lost, measured; 0 where the goal does not ask for them."""
        return self._panel_of(names).drop(self._groups(names))

    def integer(self, names: Sequence[str]) -> Graph:
        """The graph as it is lowered."""
        return self._ready(self._fit_of(names).integer(self._groups(names)))

    def named(self, names: Sequence[str]) -> Choice[T]:
        """The choice of tensors by their names.

        Raises:
            ConfigError: one cannot have int16 codes.
        """
        unknown = [name for name in names if name not in self.names]
        if unknown:
            raise ConfigError(
                "no tensor of this name can have int16 codes",
                where=f"--int16 {shown(unknown[0])}",
                hint="those that can: " + ", ".join(map(shown, self.names[:_SHOWN])),
            )
        groups, panel = self._groups(names), self._panel_of(names)
        everywhere = self._wide if names else self._narrow
        return self._made(self._fit_of(names), panel, groups, everywhere)

    @cached_property
    def _wide(self) -> Panel[T]:
        return Panel([each.wide for each in self._trials], self._judges)

    def _groups(self, names: Sequence[str]) -> Groups:
        groups = self._final.wide.candidates.groups
        return tuple(group for group in groups if group.sources[0] in names)

    def _panel_of(self, names: Sequence[str]) -> Panel[T]:
        return self._wide if names else self._narrow

    def _fit_of(self, names: Sequence[str]) -> Fit[T]:
        return self._final.wide if names else self._final.narrow

    def chosen(self, precision: Precision, progress: Progress | None) -> Choice[T]:
        """All candidates, or as few as reach the goal."""
        if self._goal.named:
            return self.named(self._goal.named)
        if precision is Precision.AUTO and self._suffices_int8():
            return self._made(self._final.narrow, self._narrow, (), self._narrow)
        panel = self._wide
        final = self._final.wide
        chosen, left_out = panel.groups, 0
        if precision is Precision.AUTO:
            order = Order(panel, progress)
            needed = order.needed(self._goal)
            fitting = self._fitting(final, order, needed)
            chosen, left_out = order.first(fitting), needed - fitting
        if self._worse_than_int8(panel, chosen):
            return self._made(self._final.narrow, self._narrow, (), panel)
        return self._made(final, panel, chosen, panel, left_out)

    def _worse_than_int8(self, panel: Panel[T], chosen: Groups) -> bool:
        narrow = self._narrow
        return (panel.drop(chosen), panel.noise(chosen)) > (narrow.drop(()), narrow.noise(()))

    def _suffices_int8(self) -> bool:
        goal, narrow = self._goal, self._narrow
        return narrow.noise(()) <= goal.noise and narrow.drop(()) <= goal.drop

    def _fitting(self, final: Fit[T], order: Order[T], count: int) -> int:
        """Largest number of the first `count` candidates that fits the board."""
        if self._fits(final.integer(order.first(count))):
            return count
        low, high = 0, count
        while high - low > 1:
            middle = (low + high) // 2
            fits = self._fits(final.integer(order.first(middle)))
            low, high = (middle, high) if fits else (low, middle)
        return low

    def _fits(self, integer: Graph) -> bool:
        return self._prices is None or self._prices.fits(self._ready(integer))

    def _price(self, integer: Graph) -> NetworkPrice | None:
        return None if self._prices is None else self._prices.price(self._ready(integer))

    def _ready(self, integer: Graph) -> Graph:
        """The graph as it is lowered."""
        return run_passes(integer, self._passes).graph

    def _made(
        self,
        final: Fit[T],
        panel: Panel[T],
        groups: Groups,
        everywhere: Panel[T],
        left_out: int = 0,
    ) -> Choice[T]:
        """Choice to compile, with the measurements of the trials.

        Args:
            final: the fit to all samples.
            panel: measured the choice.
            groups: the choice.
            everywhere: measures int16 codes everywhere.
            left_out: tensors that the board has no room for.
        """
        narrow = self._narrow
        integer = final.integer(groups)
        wide = [group for group in groups if group.members[0] in final.candidates.codes]
        own, plain = self._price(integer), self._price(self._final.narrow.integer(()))
        report = PrecisionReport(
            tensors=tuple(group.sources[0] for group in wide),
            candidates=len(final.candidates.groups),
            output_db=share_db(panel.noise(groups)),
            int8_db=share_db(narrow.noise(())),
            int16_db=share_db(everywhere.noise(everywhere.groups)),
            samples=sum(judge.samples for judge in self._judges),
            held_back=self._held_back,
            arena_bytes=None if own is None else own.arena_bytes,
            int8_arena_bytes=None if plain is None else plain.arena_bytes,
            left_out=left_out,
            slowdown=_slowdown(own, plain),
            decisions=panel.decided(groups),
            int8_decisions=narrow.decided(()),
            int16_decisions=everywhere.decided(everywhere.groups),
        )
        narrow_fit = final is self._final.narrow
        return Choice(final.made, integer, report, groups, wide=not narrow_fit)


def _slowdown(own: NetworkPrice | None, plain: NetworkPrice | None) -> float | None:
    """Time of the layers as a multiple of that with int8 codes alone."""
    if own is None or plain is None or not own.layer_cycles or not plain.layer_cycles:
        return None
    return own.layer_cycles / plain.layer_cycles
