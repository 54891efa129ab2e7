"""Settings of trials: each knob changed alone, settings composed of what that showed, then TPE.

The first trial is the default build, those after it have one knob at its farthest value each.  Then
settings that promise most (`compose`) take turns with further values of the knobs that were seen to
change anything, of those that change most first.  Values of the other knobs, and proposals of
Optuna's multivariate TPE with a constant liar, come where nothing else is left.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, TPESampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from edgec.explore.compose import Tried, base_of, composed, effects
from edgec.explore.record import outcome_of
from edgec.explore.space import Setting, switches
from edgec.explore.task import Task

_MOST_TRIED = 256
"""Finished trials from which settings are composed; TPE learns from more of them in less time."""
_SMALL_SPACE = 256
"""Settings of a space that is tried as a whole where nothing promises anything."""
_RANDOM_TRIALS = 10
"""Trials before TPE learns from them."""


class NumberedSampler(BaseSampler):
    """Chooses the settings of a study's trials by what the trials before them found.

    Random numbers are seeded anew for each trial by its place: the number of trials before it that
    were not lost.
    """

    def __init__(self, task: Task) -> None:
        """Know the search."""
        self._seed, self._space = task.seed, task.space
        bounds = task.bounds
        self._bounds = [bounds.get(each.name, math.inf) for each in task.figures.objectives]
        self._usual: Setting = {knob: values[0] for knob, values in task.space.items()}
        self._switches = switches(task.space)
        self._farthest = sum(len(values) > 1 for values in task.space.values())
        self._given: Setting | None = None
        self._inner: TPESampler = self._of(0)

    def _chosen(self, study: Study, place: int) -> Setting | None:
        """The setting of a place; None: TPE proposes one."""
        if place <= self._farthest:  # workers that begin together look at nobody's results
            return self._usual if place == 0 else self._switches[place - 1]
        done = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        begun = study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        tried = [Tried(e.params, e.values if outcome_of(e).figures else None) for e in done]
        running = [e.params for e in begun if e.params.keys() == self._space.keys()]
        known = [*(each.setting for each in tried), *running]
        base = base_of(self._space, tried)
        left = [e for e in self._around(base) if e not in known]
        told = effects(base, tried)
        telling = [each for each in left if _knob(base, each) in told]
        telling.sort(key=lambda each: -told[_knob(base, each)])
        if (place - self._farthest) % 2 == 0 and telling:
            return telling[0]
        found = None
        if len(tried) <= _MOST_TRIED:
            seed = self._seed_of(place)
            found = composed(self._space, tried, running, self._bounds, seed)
        return found or next(iter(telling or left), None) or self._untried(known, place)

    def _untried(self, known: Sequence[Setting], place: int) -> Setting | None:
        """A setting of a small space that nobody tried; None: all were, or there are many."""
        if math.prod(map(len, self._space.values())) > _SMALL_SPACE:
            return None
        every = itertools.product(*self._space.values())
        settings = [dict(zip(self._space, each, strict=True)) for each in every]
        open_settings = [each for each in settings if each not in known]
        if not open_settings:
            return None
        return random.Random(self._seed_of(place)).choice(open_settings)

    def _around(self, base: Setting) -> list[Setting]:
        """Settings with one knob changed, by turns as `switches` has them."""
        found: list[Setting] = []
        for each in self._switches:
            knob = _knob(self._usual, each)
            if each[knob] != base[knob]:
                found.append({**base, knob: each[knob]})
        return found

    def _seed_of(self, place: int) -> int:
        return random.Random(f"{self._seed} {place}").randrange(2**32)

    def _of(self, place: int) -> TPESampler:
        return TPESampler(
            seed=self._seed_of(place),
            multivariate=True,
            constant_liar=True,
            n_startup_trials=_RANDOM_TRIALS,
        )

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Choose the setting of a trial, or begin the random numbers of TPE."""
        place = place_of(study, trial.number)
        self._given, self._inner = self._chosen(study, place), self._of(place)
        self._inner.before_trial(study, trial)

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Knobs that are proposed together."""
        if self._given is not None:
            return {}
        return self._inner.infer_relative_search_space(study, trial)

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Values of these knobs."""
        if not search_space:
            return {}
        return self._inner.sample_relative(study, trial, search_space)

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Value of one knob."""
        if self._given is not None:
            return self._given[param_name]
        return self._inner.sample_independent(study, trial, param_name, param_distribution)


def _knob(base: Setting, changed: Setting) -> str:
    """The knob that a setting changes alone."""
    return next(knob for knob, value in changed.items() if value != base[knob])


def place_of(study: Study, number: int) -> int:
    """Trials before one, without those that were lost."""
    trials = study.get_trials(deepcopy=False)
    return sum(each.number < number and each.state is not TrialState.FAIL for each in trials)
