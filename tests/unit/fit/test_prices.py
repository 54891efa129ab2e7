"""Probes of `compile --fit`, and the lessons of builds and measurements."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import pytest

from edgec.base.options import Optimize, Rows
from edgec.fit.choice import Built, Setting
from edgec.fit.prices.learned import Kind, Layer, Learned
from edgec.fit.prices.noise import Noises
from edgec.fit.prices.probes import covering_sets, first_sets, states, told_apart
from edgec.fit.program.problem import Figures, State
from edgec.kernels.family import KernelSpec

NAMES = tuple("abcdefgh")
CELLS = [frozenset(each) for each in ("ab", "bc", "bcd", "de", "adef", "fgh", "h")]
SPEED = Setting(Optimize.SPEED, None, Rows.NEVER)
WIDE: Kind = ("Dense", ("INT8", "INT16"))
WIDER: Kind = ("Dense", ("INT16", "INT16"))


def shown(sets: Collection[State]) -> set[tuple[State, State]]:
    return {(cell, cell & each) for cell in CELLS for each in sets}


def test_every_layer_is_shown_in_every_state():
    sets = first_sets(NAMES, CELLS)
    assert sets[:2] == [frozenset(), frozenset(NAMES)]
    for cell in (cell for cell in CELLS if len(cell) == 2):
        assert {cell & each for each in sets} == set(states(cell))
    more = covering_sets(CELLS, sets)
    wanted = {(cell, state) for cell in CELLS for state in states(cell)}
    assert shown([*sets, *more]) == wanted
    # Not many more than the layer with most states needs.
    assert len(sets) + len(more) <= 2 * max(len(states(cell)) for cell in CELLS)
    assert covering_sets(CELLS, [*sets, *more]) == []


def test_a_layer_that_is_there_by_the_codes_of_others():
    # A convolution before a sum is part of it where all that the sum reads and writes is int8.
    def layer(int16: State) -> str | None:
        return None if not int16 & set("abcd") else f"conv {sorted(int16 & set('ab'))}"

    sets = states(frozenset("abcde"))
    seen = [(each, layer(each)) for each in sets]
    assert told_apart(frozenset("ab"), seen, frozenset("abcde")) == frozenset("abcd")
    # What its own tensors say needs no more of them.
    plain = [(each, f"conv {sorted(each & set('ab'))}") for each in sets]
    assert told_apart(frozenset("ab"), plain, frozenset("abcde")) == frozenset("ab")


class _Space:
    """A network whose noises add up, louder than its tensors alone."""

    names = NAMES
    members: ClassVar[Mapping[str, str]] = dict(zip(NAMES, NAMES, strict=True))
    alone = tuple(0.01 * 2.0**i for i in range(len(NAMES)))
    louder = 3.0

    def __init__(self) -> None:
        self.asked = 0

    def added(self) -> tuple[float, ...]:
        return self.alone

    def noise(self, names: Sequence[str]) -> float:
        self.asked += 1
        pairs = zip(NAMES, self.alone, strict=True)
        return 0.5 + self.louder * sum(noise for name, noise in pairs if name not in names)

    def drop(self, names: Sequence[str]) -> float:
        raise NotImplementedError

    def integer(self, names: Sequence[str]) -> None:
        raise NotImplementedError


def test_noise_is_scaled_to_measurements():
    space = _Space()
    noises = Noises(space)  # type: ignore[arg-type]
    assert noises.floor == 0.5
    assert noises.singles["b"] == space.alone[1]
    chosen = frozenset("ab")
    assert not noises.known(chosen)
    assert noises.measured(chosen) == space.noise("ab")
    assert noises.known(chosen)
    asked = space.asked
    assert noises.measured(chosen) == space.noise("ab")
    assert space.asked == asked + 1  # by this test alone
    assert noises.singles["c"] == pytest.approx(3.0 * space.alone[2])
    assert noises.singles["a"] == space.alone[0]  # no measurement had its int8 codes
    sets = [chosen, frozenset("h"), frozenset("aceg")]
    for each in sets:
        noises.measured(each)
    for each in sets:
        predicted = noises.floor + sum(v for k, v in noises.singles.items() if k not in each)
        assert predicted == pytest.approx(noises.measured(each), rel=0.01)


def test_noise_of_weights_adds_up_and_is_scaled_to_measurements():
    space, narrow = _Space(), _Space()
    noises = Noises(space)  # type: ignore[arg-type]
    asked: list[State] = []

    def space_of(chosen: State) -> _Space:
        asked.append(chosen)
        return narrow

    noises.offer({"x=4": 0.2, "y=2": 0.4}, space_of)  # type: ignore[arg-type]
    assert noises.singles["x=4"] == 0.2
    chosen = frozenset(("x=4", "h"))
    assert noises.measured(chosen) == narrow.noise("h")
    assert asked == [chosen]
    # All that adds to this noise is scaled alike: int8 codes of seven tensors, and weights.
    added = 0.2 + sum(space.alone[:-1])
    factor = (narrow.noise("h") - space.noise(NAMES)) / added
    assert noises.singles["x=4"] == pytest.approx(0.2 * factor)
    assert noises.singles["a"] == pytest.approx(space.alone[0] * factor)
    assert noises.singles["y=2"] == 0.4
    # Weights alone: what they add to the network with int8 codes.
    narrow.louder = 3.1
    only = frozenset(("y=2",))
    extra = noises.measured(only) - noises.int8
    assert noises.singles["y=2"] == pytest.approx(extra)


def test_nobody_measures_noise():
    noises = Noises(None)
    assert noises.known(frozenset())
    assert math.isnan(noises.measured(frozenset()))


def a_layer(cycles: float, kind: Kind, function: str) -> Layer:
    spec: KernelSpec = function  # type: ignore[assignment]
    return Layer(cycles, 0, {}, spec, kind, frozenset("ab"))


def built(**cycles: float) -> Built:
    total = sum(cycles.values())
    return Built(Figures(total + 7.0, 100.0, 50.0, 0.1), cycles, 20, 30)


def test_builds_correct_prices():
    learned = Learned()
    first, second = a_layer(100.0, WIDE, "f"), a_layer(200.0, WIDE, "g")
    layers = {"x": (first, frozenset("a")), "y": (second, frozenset("a"))}
    learned.take(SPEED, layers, built(x=150.0, y=200.0), 1000.0, 500.0)
    assert learned.outside(SPEED) == 7.0
    assert learned.flash_bytes(SPEED) == 1000.0
    assert learned.ram_bytes(SPEED) == 500.0
    # Built as it is; with the same function; of its own kind in another state.
    assert learned.cycles(SPEED, "x", frozenset("a"), first, 1.0) == 150.0
    assert learned.cycles(SPEED, "z", frozenset("b"), first, 1.0) == 150.0
    assert learned.cycles(SPEED, "x", frozenset("b"), a_layer(10.0, WIDE, "h"), 1.0) == 15.0
    # Layers of the kind take 350 / 300 of their price, "x" 1.5 times: 9 / 7 of what is usual.
    strange = learned.cycles(SPEED, "w", frozenset("b"), a_layer(30.0, WIDE, "h"), 1.0)
    assert strange == pytest.approx(35.0)
    third = a_layer(100.0, WIDER, "k")
    other = {"y": (third, frozenset("ab"))}
    learned.take(SPEED, other, built(y=400.0), 1000.0, 500.0)
    found = learned.cycles(SPEED, "x", frozenset("ab"), a_layer(100.0, WIDER, "l"), 1.0)
    assert found == pytest.approx(400.0 * 9 / 7)
    nowhere = frozenset[str]()
    assert learned.cycles(SPEED, "w", nowhere, a_layer(1.0, WIDER, "m"), 5.0) == 4.0
    unknown = a_layer(1.0, ("Pool", ("INT8",)), "n")
    assert learned.cycles(SPEED, "w", nowhere, unknown, 1.0) == 1.0
    turns = Setting(Optimize.SPEED, None, Rows.ALWAYS)
    assert learned.cycles(turns, "w", nowhere, unknown, 5.0) == 5.0
    assert learned.cycles(turns, "y", nowhere, third, 5.0) == 2000.0
    assert learned.shows(SPEED, third)
    assert not learned.shows(turns, third)


def test_a_build_in_other_code_tells_of_a_layer_more_than_layers_like_it():
    learned, small = Learned(), replace(SPEED, optimize=Optimize.SIZE)
    x, y = a_layer(100.0, WIDE, "f"), a_layer(200.0, WIDE, "g")
    plain = a_layer(50.0, ("Dense", ("INT8", "INT8")), "h")
    state, nowhere = frozenset("a"), frozenset[str]()
    wide = {"x": (x, state), "y": (y, state)}
    learned.take(SPEED, wide, built(x=400.0, y=200.0), 1000.0, 500.0)
    learned.take(SPEED, {"x": (plain, nowhere)}, built(x=50.0), 1000.0, 500.0)
    learned.take(small, {"x": (plain, nowhere)}, built(x=60.0), 1000.0, 500.0)
    # Small code takes 60 / 50 of the time of what was built in both.
    assert learned.cycles(small, "x", state, x, 1.0) == pytest.approx(480.0)
    assert learned.cycles(small, "y", state, y, 1.0) == pytest.approx(240.0)
    assert learned.cycles(small, "x", nowhere, plain, 1.0) == 60.0
