"""Settings of trials: each knob changed alone, settings composed of what that showed, then TPE.

The first trial is the default build, those after it have one knob at its farthest value each.  Then
settings that promise most (`compose`) take turns with further values of the knobs that were seen to
change anything, of those that change most first.  Values of the other knobs, and proposals of
Optuna's multivariate TPE with a constant liar, come where nothing else is left.
"""

from __future__ import annotations

import math
import random
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, TPESampler
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from edgec.explore.compose import Tried, composed, effects
from edgec.explore.record import outcome_of
from edgec.explore.space import Setting, switches
from edgec.explore.task import Task

_MOST_TRIED = 256
"""Finished trials from which settings are composed; TPE learns from more of them in less time."""
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
        left = [each for each in self._switches if each not in known]
        told = effects(self._usual, tried)
        telling = [each for each in left if self._knob(each) in told]
        telling.sort(key=lambda each: -told[self._knob(each)])
        if (place - self._farthest) % 2 == 0 and telling:
            return telling[0]
        found = None
        if len(tried) <= _MOST_TRIED:
            seed = self._seed_of(place)
            found = composed(self._space, tried, running, self._bounds, seed)
        return found or next(iter(telling or left), None)

    def _knob(self, switch: Setting) -> str:
        """The knob that a switch changes."""
        return next(knob for knob, value in switch.items() if value != self._usual[knob])

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


def place_of(study: Study, number: int) -> int:
    """Trials before one, without those that were lost."""
    trials = study.get_trials(deepcopy=False)
    return sum(each.number < number and each.state is not TrialState.FAIL for each in trials)
