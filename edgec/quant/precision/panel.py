"""Measurements of a choice of int16 codes on all fits, each on the samples that judge it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from edgec.ir.graph import Graph
from edgec.ir.qparams import QuantParams
from edgec.quant.common.output_noise import energy
from edgec.quant.common.progress import Progress
from edgec.quant.common.report import Decisions
from edgec.quant.precision.held import Fit
from edgec.quant.precision.judge import Judge, Measured, Trials, share
from edgec.quant.scales.groups import Group

T = TypeVar("T")
Groups = tuple[Group, ...]


class Panel(Generic[T]):
    """Fits that are judged together; what was measured of a choice is measured once."""

    def __init__(self, fits: Sequence[Fit[T]], judges: Sequence[Judge]) -> None:
        """Nothing is measured yet.

        Args:
            fits: those of one network to different samples.
            judges: one for each fit, with samples that it has not seen.
        """
        self._fits, self._judges = fits, judges
        self._noises: dict[Groups, float] = {}
        self._decided: dict[Groups, Decisions | None] = {}

    @property
    def groups(self) -> Groups:
        """Groups of tensors to choose from."""
        return self._fits[0].candidates.groups

    def noise(self, chosen: Groups) -> float:
        """The largest share of an output's energy that is noise with some int16 codes."""
        if chosen not in self._noises:
            found = [j.measured(f.integer(chosen)) for f, j in self._pairs()]
            self._noises[chosen] = share(found)
        return self._noises[chosen]

    def decided(self, chosen: Groups) -> Decisions | None:
        """Number of equal decisions with some int16 codes; None where nobody asks."""
        if chosen not in self._decided:
            found = [j.decided(f.integer(chosen)) for f, j in self._pairs()]
            self._decided[chosen] = _joined([each for each in found if each is not None])
        return self._decided[chosen]

    def drop(self, chosen: Groups) -> float:
        """Percentage points of decisions that are lost; 0 where nobody asks."""
        found = self.decided(chosen)
        return 0.0 if found is None else 100.0 * (1.0 - found.share)

    def added(self, progress: Progress | None = None, *, closely: bool = False) -> list[float]:
        """The share of an output's energy that the int8 codes of each group add as noise.

        Args:
            progress: told after each group of a fit.
            closely: on more samples than an order of the groups needs.
        """
        found: list[list[Measured]] = [[] for _ in self.groups]
        total = len(self._fits) * len(found)
        for done, (fit, judge) in enumerate(self._pairs()):
            everything = fit.integer(self.groups)
            trials = judge.trials(everything, closely=closely)
            for number, group in enumerate(self.groups):
                narrow = _narrow(fit, everything, group)
                found[number].append(judge.tried(_noise(trials, narrow), closely=closely))
                if progress is not None:
                    progress(done * len(found) + number + 1, total)
        return [share(parts) for parts in found]

    def _pairs(self) -> list[tuple[Fit[T], Judge]]:
        return list(zip(self._fits, self._judges, strict=True))


def _joined(found: Sequence[Decisions]) -> Decisions | None:
    if not found:
        return None
    equal, samples = (sum(getattr(each, name) for each in found) for name in ("equal", "samples"))
    return Decisions(equal, samples, found[0].classes)


def _noise(trials: Trials, narrow: dict[str, QuantParams]) -> dict[str, float]:
    """The energy of the noise that rounding some tensors adds at each output."""
    noise: dict[str, float] = {}
    for sample in range(trials.samples):
        whole = trials.outputs(sample)
        for name, value in trials.rounded(sample, narrow).items():
            noise[name] = noise.get(name, 0.0) + energy(value - whole[name])
    return noise


def _narrow(fit: Fit[T], everything: Graph, group: Group) -> dict[str, QuantParams]:
    """The int8 parameters of a group by the tensors that have its int16 codes."""
    codes, found = fit.candidates.codes, {}
    for source in group.sources:
        if source not in codes:
            continue  # its int8 codes are all that this fit has
        for name, value in everything.values.items():
            if source in (name, value.form_of) and value.quant == codes[source].quant:
                found[name] = fit.candidates.narrow[source]
    return found
