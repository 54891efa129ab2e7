"""Searches in which much cannot be built: the default build, or values together."""

from __future__ import annotations

from dataclasses import replace

import pytest
from explore_trials import measured, synthetic_task

pytest.importorskip("optuna", reason="the search engine, edgec[explore], is not installed")

from optuna.storages import InMemoryStorage

from edgec.explore import search
from edgec.explore.compose import Tried, effects
from edgec.explore.space import Setting, space_of
from edgec.explore.task import Task
from edgec.explore.trial import Outcome


def test_a_value_that_could_be_built_where_the_default_build_could_not_has_an_effect() -> None:
    usual = {"pool": "0", "observer": "0"}
    tried = [
        Tried(usual, None),
        Tried({**usual, "pool": "1"}, (1.0, 2.0, 3.0, 4.0)),
        Tried({**usual, "observer": "1"}, None),
    ]
    assert set(effects(usual, tried)) == {"pool"}


def _points(outcome, trials: int):
    task: Task = replace(synthetic_task({}), space=space_of(["net"], ["nucleo_g0b1re"], []))
    storage = InMemoryStorage()
    study = search.begin(storage, task, "s", "memory", trials)
    search.work(storage, "s", task, trials, outcome)
    return search.points_of(study)


def test_a_search_goes_on_from_what_fits_where_the_default_build_does_not() -> None:
    def outcome(s: Setting) -> Outcome:
        if s["pool"] == "default":
            return Outcome(None, "flash overflowed")
        size = {"64": 15e4, "256+decode": 20e4}.get(s["pool"], 13e4)
        return Outcome(measured(1.0, 10.0, size, 3e4))

    points = _points(outcome, 24)
    assert sum(p.figures is not None for p in points) >= 12


def test_what_was_refused_together_is_not_proposed_again_and_again() -> None:
    def outcome(s: Setting) -> Outcome:
        pool, precision = s["pool"] != "default", s["precision"] != "default"
        if pool and precision:
            return Outcome(None, "do not go together")
        return Outcome(measured(2.0 + 2 * pool - 1.5 * precision, 10.0, 15e4 if pool else 4e5, 3e4))

    points = _points(outcome, 40)
    assert sum(p.figures is None for p in points) <= 10
