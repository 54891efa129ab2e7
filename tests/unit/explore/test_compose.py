"""Settings composed of what single values of knobs do."""

from __future__ import annotations

import itertools
import math

import pytest

pytest.importorskip("optuna", reason="the search engine, edgec[explore], is not installed")

from edgec.explore.compose import Tried, composed
from edgec.explore.space import Setting

SPACE = {
    "precision": ("default", "int16"),
    "pool": ("default", "64", "32"),
    "optimize": ("default", "size"),
    "effort": ("default", "best"),
}
NO_BOUNDS = (math.inf,) * 4
_DROP = {"int16": -0.5, "64": 3.0, "32": 8.0}
_FLASH = {"64": 0.4, "32": 0.3, "size": 0.8}
_TIME = {"int16": 1.3, "64": 1.5, "32": 1.5, "size": 1.1}


def figures(setting: Setting) -> tuple[float, ...]:
    """Points that add up, time and flash as products of factors, RAM that nothing changes."""
    values = setting.values()
    drop = sum(_DROP.get(v, 0.0) for v in values)
    time, flash = (math.prod(f.get(v, 1.0) for v in values) for f in (_TIME, _FLASH))
    return drop, 5.0 * time, 1e5 * flash, 4e3


def setting(**changed: str) -> Setting:
    return {knob: changed.get(knob, values[0]) for knob, values in SPACE.items()}


def tried(*settings: Setting) -> list[Tried]:
    return [Tried(each, figures(each)) for each in settings]


SINGLE = tried(setting(), *(setting(**{k: v}) for k, values in SPACE.items() for v in values[1:]))


def test_values_that_help_are_joined_and_those_that_do_nothing_are_not():
    """Two changes that both help; `effort` changes nothing."""
    found = composed(SPACE, SINGLE, (), NO_BOUNDS, 0)
    assert found is not None
    assert found["effort"] == "default"
    assert sum(value != "default" for value in found.values()) == 2


def test_few_proposals_find_all_that_is_no_worse_than_single_changes():
    known = list(SINGLE)
    while (found := composed(SPACE, known, (), NO_BOUNDS, len(known))) is not None:
        assert all(found != each.setting for each in known)
        known += tried(found)
        assert len(known) <= 20
    every = [dict(zip(SPACE, each, strict=True)) for each in itertools.product(*SPACE.values())]

    def beaten(own: Setting, others: list[Setting]) -> bool:
        mine = figures(own)
        return any(all(a <= b for a, b in zip(figures(each), mine, strict=True)) for each in others)

    settings = [each.setting for each in known]
    worst = [max(column) for column in zip(*(figures(e.setting) for e in SINGLE), strict=True)]
    near = [e for e in every if all(a <= b for a, b in zip(figures(e), worst, strict=True))]
    assert len(near) > len(SINGLE)
    missing = [each for each in near if not beaten(each, settings)]
    assert not missing


def test_what_runs_already_is_not_proposed_again():
    first = composed(SPACE, SINGLE, (), NO_BOUNDS, 0)
    assert first is not None
    second = composed(SPACE, SINGLE, (first,), NO_BOUNDS, 0)
    assert second is not None
    assert second != first
    assert figures(second) != figures(first)


def test_values_that_could_never_be_built_are_left_out():
    known = [e for e in SINGLE if e.setting["pool"] == "default"]
    known += [Tried(setting(pool=size), None) for size in ("64", "32")]
    for seed in range(5):
        found = composed(SPACE, known, (), NO_BOUNDS, seed)
        assert found is None or found["pool"] == "default"


def test_a_proposal_keeps_the_limits_or_comes_nearer_to_them():
    bounds = (1.0, math.inf, 9e4, math.inf)  # no pool, and small code
    for seed in range(5):
        found = composed(SPACE, SINGLE, (), bounds, seed)
        assert found is not None
        assert (found["pool"], found["optimize"]) == ("default", "size")
    bounds = (math.inf, math.inf, 2.5e4, math.inf)  # no single value reaches this
    found = composed(SPACE, SINGLE, (), bounds, 0)
    assert found is not None
    assert (found["pool"], found["optimize"]) == ("32", "size")


def test_without_the_default_build_nothing_is_proposed():
    assert composed(SPACE, [Tried(setting(), None)], (), NO_BOUNDS, 0) is None
    assert composed(SPACE, [], (), NO_BOUNDS, 0) is None


def test_a_large_space_is_looked_at_in_parts():
    space = {f"k{n}": ("a", "b", "c", "d") for n in range(12)}
    usual = dict.fromkeys(space, "a")
    known = [Tried(usual, (0.0, 1.0, 1.0, 1.0))]
    for knob in space:
        for place, value in enumerate("bcd"):
            changed = {**usual, knob: value}
            known.append(Tried(changed, (0.1 * place, 0.9 - 0.1 * place, 1.0, 1.0)))
    found = composed(space, known, (), NO_BOUNDS, 3)
    assert found is not None
    assert sum(value != "a" for value in found.values()) > 4
    assert found == composed(space, known, (), NO_BOUNDS, 3)
