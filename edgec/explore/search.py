"""The search: a sampler proposes, workers build, the storage keeps.

A worker takes trials until enough are finished.  Those that count are the first `total` ones by
number that nobody lost: a trial beyond them, which two workers can begin at the same time, is given
back.  A proposal follows from the seed, the place of its trial and the trials that are finished, so
one worker finds the same study again, at once or after an interruption.
"""

from __future__ import annotations

import dataclasses
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import optuna
from optuna.exceptions import DuplicatedStudyError, UpdateFinishedTrialError
from optuna.storages import BaseStorage
from optuna.study import Study
from optuna.trial import Trial, TrialState

from edgec.base.errors import ConfigError, EdgecError
from edgec.explore.front import Point
from edgec.explore.record import OUTCOME, outcome_of
from edgec.explore.sampler import NumberedSampler, place_of
from edgec.explore.space import Setting
from edgec.explore.task import VERSION, Task, check_same, edgec_identity
from edgec.explore.trial import Outcome

STUDY = "edgec"
_TASK, _IDENTITY = "edgec:task", "edgec:identity"
_TRIALS = "edgec:trials"
_POLL_S = 0.2

Evaluate = Callable[[Setting], Outcome]


def begin(storage: BaseStorage, task: Task, name: str, place: str, total: int) -> Study:
    """The study of a task: a new one, or the one that the storage holds.

    Args:
        storage: the storage.
        task: the search.
        name: name of the study.
        place: the storage, for messages.
        total: trials of the study, as workers of other machines shall know it.

    Raises:
        ConfigError: the storage holds another study of this name.
    """
    own = task.identity()
    try:
        study = optuna.create_study(
            storage=storage,
            study_name=name,
            directions=["minimize"] * len(task.figures.objectives),
        )
        study.set_user_attr(_IDENTITY, own)
        study.set_user_attr(_TASK, task.to_text())
    except DuplicatedStudyError:
        study = optuna.load_study(storage=storage, study_name=name)
        check_same(study.user_attrs.get(_IDENTITY, {}), own, place)
    study.set_user_attr(_TRIALS, total)
    return study


def task_in(storage: BaseStorage, name: str, place: str) -> tuple[Task, int]:
    """Task and trials of a study that another process began, if this machine can work on it.

    Raises:
        ConfigError: there is none, or it is not the same on this machine.
    """
    try:
        kept = optuna.load_study(storage=storage, study_name=name).user_attrs
    except KeyError:
        kept = {}
    if _TASK not in kept:
        raise ConfigError(
            f"holds no study {name!r} of edgec explore",
            where=place,
            hint="begin it with edgec explore MODEL --storage, then start workers",
        )
    kept_identity: Mapping[str, str] = kept[_IDENTITY]
    _check_version(kept_identity, place)
    task = Task.from_text(kept[_TASK])
    check_same(kept_identity, task.identity(), place)
    return task, int(kept[_TRIALS])


def load(storage: BaseStorage, name: str) -> Study:
    """A study that the storage holds."""
    return optuna.load_study(storage=storage, study_name=name)


def _check_version(kept: Mapping[str, str], place: str) -> None:
    """Say that the version differs before a task of that version is read."""
    check_same({VERSION: kept.get(VERSION, "")}, {VERSION: edgec_identity()}, place)


class _Surplus(Exception):
    """Enough trials were begun before this one."""


def work(
    storage: BaseStorage,
    name: str,
    task: Task,
    total: int,
    evaluate: Evaluate,
) -> None:
    """Run trials until `total` of them are finished, by whomever; inside of `storage.quiet`.

    Args:
        storage: where trials are kept; this thread's or process's own, or one that may be shared.
        name: name of the study.
        task: the search.
        total: trials of the study.
        evaluate: builds and measures a setting.

    Raises:
        EdgecError: `evaluate` did; its setting is in the queue again.
    """
    sampler = NumberedSampler(task)
    study = optuna.load_study(storage=storage, study_name=name, sampler=sampler)

    def objective(trial: Trial) -> Sequence[float]:
        if place_of(study, trial.number) >= total:
            raise _Surplus
        setting = {knob: trial.suggest_categorical(knob, v) for knob, v in task.space.items()}
        try:
            outcome = _known(study, setting) or evaluate(setting)
        except EdgecError:
            study.enqueue_trial(setting)  # another machine can build it
            raise
        except SystemExit:  # this process was told to end
            study.tell(trial, state=TrialState.FAIL)
            study.enqueue_trial(setting)
            raise
        return _recorded(trial, outcome, task)

    while True:
        count = Counter(trial.state for trial in study.get_trials(deepcopy=False))
        if count[TrialState.COMPLETE] >= total:
            return
        if count[TrialState.COMPLETE] + count[TrialState.RUNNING] >= total:
            time.sleep(_POLL_S)
            optuna.storages.fail_stale_trials(study)
            if not count[TrialState.WAITING]:
                continue
        try:
            study.optimize(objective, n_trials=1, catch=(_Surplus,))
        except (UpdateFinishedTrialError, ValueError) as error:
            # Somebody took this worker for dead, and its trial is run again.
            if "Cannot tell" not in str(error) and isinstance(error, ValueError):
                raise


def _known(study: Study, setting: Setting) -> Outcome | None:
    """The outcome of an earlier trial of a setting; None: there is none."""
    done = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    return next((outcome_of(trial) for trial in done if trial.params == setting), None)


def _recorded(trial: Trial, outcome: Outcome, task: Task) -> Sequence[float]:
    """Write an outcome with its trial; its values for the sampler."""
    trial.set_user_attr(OUTCOME, dataclasses.asdict(outcome))
    point = Point(trial.number, trial.params, outcome.figures)
    is_refused = outcome.figures is None
    over = {"refused": 1.0 if is_refused else -1.0}
    # The constraint says of the worst figures that they are none.
    values = {
        each.name: each.worst if is_refused else point.value(each.name)
        for each in task.figures.objectives
    }
    for name, most in task.bounds.items():
        over[name] = values[name] / max(most, 1e-9) - 1.0
    for name, value in over.items():
        if name not in trial.constraints:  # written already where a killed worker was nearly done
            trial.set_constraint(name, value)
    return tuple(values.values())


def points_of(study: Study) -> tuple[Point, ...]:
    """Finished trials of a study, by their number in the order in which they were proposed."""
    done = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    found = []
    for trial in done:
        outcome = outcome_of(trial)
        found.append(
            Point(trial.number, trial.params, outcome.figures, outcome.refused, outcome.found)
        )
    return tuple(found)


def lost(study: Study) -> int:
    """Number of trials whose worker was lost and that were run again."""
    failed = study.get_trials(deepcopy=False, states=(TrialState.FAIL,))
    history = [t.system_attrs.get("retry_history", ()) for t in study.get_trials(deepcopy=False)]
    again = {number for numbers in history for number in numbers}
    return sum(trial.number in again for trial in failed)
