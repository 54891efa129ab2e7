"""`compile --fit`: limits, and the answer of its program beside all choices."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import replace

import pytest

from edgec.base.errors import ConfigError
from edgec.base.options import FitLimits
from edgec.fit.program.problem import Bounds, Cell, Cost, Cut, Need, Problem
from edgec.fit.program.solve import Aim, best

pytest.importorskip("highspy")


def a_problem(seed: int, tensors: int = 6) -> Problem:
    """A chain of layers, each between two tensors, with random prices."""
    dice = random.Random(seed)
    names = tuple(f"t{i}" for i in range(tensors))
    cells = []
    for left, right in itertools.pairwise(names):
        costs = {
            frozenset(state): Cost(
                dice.randint(50, 90) * (1 + len(state)), 40, frozenset((dice.choice("abc"), "d"))
            )
            for count in range(3)
            for state in itertools.combinations((left, right), count)
        }
        cells.append(Cell(f"{left}-{right}", frozenset((left, right)), costs))
    needs = [Need(dice.randint(50, 80), {name: dice.randint(20, 60)}) for name in names]
    noises = {name: dice.random() for name in names}
    return Problem(
        tensors=names,
        cells=cells,
        functions={each: float(dice.randint(100, 200)) for each in "abcd"},
        needs=needs,
        noises=noises,
        floor=0.05,
        flash_bytes=1000.0,
        ram_bytes=500.0,
        cuts=(Cut(frozenset(names[:2]), 150),),
        int8_noise=1.1 * (0.05 + sum(noises.values())),
    )


def with_ways(problem: Problem, seed: int) -> Problem:
    """Every second layer can have other weights, too, which share a function."""
    dice = random.Random(seed)
    cells, ways = list(problem.cells), dict[str, float]()
    for number in range(0, len(cells), 2):
        cell = cells[number]
        own = [f"{cell.name}={bits}" for bits in (4, 2)]
        ways |= {name: dice.random() / 2 for name in own}
        narrow: dict[frozenset[str], Cost | None] = dict(cell.costs)
        for state, way in itertools.product(cell.costs, own):
            narrow[state | {way}] = Cost(
                dice.randint(50, 90) * (1 + len(state)), 10, frozenset(("w", "d"))
            )
        cells[number] = Cell(cell.name, cell.tensors.union(own), narrow)
    return replace(
        problem,
        cells=cells,
        functions={**problem.functions, "w": 25.0},
        noises={**problem.noises, **ways},
        ways=tuple(ways),
    )


def all_choices(problem: Problem) -> list[tuple[str, ...]]:
    return [
        chosen
        for count in range(len(problem.names) + 1)
        for chosen in itertools.combinations(problem.names, count)
    ]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("aim", list(Aim))
def test_no_choice_within_limits_is_better(seed: int, aim: Aim):
    problem = a_problem(seed)
    bounds = Bounds(cycles=700.0, flash_bytes=1480.0, ram_bytes=640.0, noise=3.0)
    found = best(problem, bounds, aim)
    values = [
        getattr(figures, aim.value)
        for figures in map(problem.figures, all_choices(problem))
        if figures is not None and figures.excess(bounds) <= 0.0
    ]
    if not values:
        assert found is None
        return
    assert found is not None
    value = getattr(problem.figures(found), aim.value)
    assert value <= min(values) * (1.005 if aim is Aim.NOISE else 1.0) + 1e-9


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("flash_bytes", [1330.0, 1370.0, 1480.0])
def test_codes_and_weights_are_chosen_together(seed: int, flash_bytes: float):
    problem = with_ways(a_problem(seed, tensors=5), seed)
    bounds = Bounds(cycles=560.0, flash_bytes=flash_bytes, ram_bytes=640.0)
    for aim in (Aim.NOISE, Aim.CYCLES):
        found = best(problem, bounds, aim)
        values = [
            getattr(figures, aim.value)
            for figures in map(problem.figures, all_choices(problem))
            if figures is not None and figures.excess(bounds) <= 0.0
        ]
        if not values:
            assert found is None
            continue
        assert found is not None
        assert sum(way in found for way in problem.ways[:2]) <= 1
        value = getattr(problem.figures(found), aim.value)
        assert value <= min(values) * (1.005 if aim is Aim.NOISE else 1.0) + 1e-9


def test_weights_alone_keep_the_noise_of_int8_codes():
    problem = with_ways(a_problem(1, tensors=4), 1)
    way = problem.ways[0]
    assert problem.noise((way,)) == problem.int8_noise + problem.noises[way]
    assert problem.noise((*problem.tensors, way)) == problem.floor + problem.noises[way]
    # So tight that only weights of few bits fit, and only with int8 codes.
    plain = problem.figures(())
    assert plain is not None
    least = min(
        (figures for figures in map(problem.figures, all_choices(problem)) if figures is not None),
        key=lambda each: (each.flash_bytes, each.cycles),
    )
    assert least.flash_bytes < plain.flash_bytes
    found = best(problem, Bounds(flash_bytes=least.flash_bytes), Aim.NOISE)
    assert found is not None
    assert set(found) & set(problem.ways)


def test_nothing_within_limits():
    assert best(a_problem(0), Bounds(cycles=1.0), Aim.NOISE) is None


def test_of_equal_noise_the_fewest_cycles():
    problem = replace(a_problem(1), noises=dict.fromkeys(a_problem(1).tensors, 1e-9))
    found = best(problem, Bounds(), Aim.NOISE)
    assert found is not None
    least = min(
        figures.cycles
        for chosen in all_choices(problem)
        if chosen and (figures := problem.figures(chosen)) is not None
    )
    assert problem.figures(found).cycles == least


def test_a_state_without_price_is_not_chosen():
    problem = a_problem(2)
    first = problem.cells[0]
    known = {state: cost for state, cost in first.costs.items() if len(state) < 2}
    cells = (replace(first, costs=known), *problem.cells[1:])
    found = best(replace(problem, cells=cells), Bounds(), Aim.NOISE)
    assert found is not None
    assert not first.tensors <= set(found)


def test_weights_in_ram_are_those_of_the_plan():
    problem = replace(a_problem(4), copied=1.0)
    chosen, wider = frozenset(problem.tensors[:3]), frozenset(problem.tensors[:4])
    constants = 40 * len(problem.cells)
    before = problem.figures(wider)
    planned = replace(problem, cuts=(Cut(chosen, 400, 60),))
    figures, more = planned.figures(chosen), planned.figures(wider)
    assert before is not None
    assert figures is not None
    assert more is not None
    assert figures.ram_bytes == 500.0 + 400 + 60
    # Of a larger choice the arena is known to be no smaller, its weights are not known.
    assert more.ram_bytes == 500.0 + 400 + constants >= before.ram_bytes


def test_random_choices_use_up_the_limits():
    problem, bounds = a_problem(5), Bounds(cycles=750.0, flash_bytes=1700.0, ram_bytes=640.0)
    found = list(problem.drawn(bounds, 10))
    assert found == list(problem.drawn(bounds, 10))
    assert len(set(found)) == len(found) > 1

    def is_within(chosen: frozenset[str]) -> bool:
        figures = problem.figures(chosen)
        return figures is not None and figures.excess(bounds) <= 0.0

    for each in found:
        assert is_within(frozenset(each))
        # An order that ends with a tensor found no room for it, with no more than these beside it.
        assert len(each) < len(problem.tensors)
    assert any(
        not any(is_within(frozenset(each) | {t}) for t in problem.tensors if t not in each)
        for each in found
    )


def test_equal_input_equal_output():
    bounds = Bounds(cycles=700.0, flash_bytes=1480.0)
    assert len({best(a_problem(3), bounds, Aim.NOISE) for _ in range(3)}) == 1


def test_limits():
    found = FitLimits.parse("flash=64K,ram=32K,ms=20,drop=0.5")
    assert found == FitLimits(65536, 32768, 20.0, 0.5)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("flsh=64K", "is no limit"),
        ("flash=64X", "cannot read"),
        ("ram=1K,ram=2K", "cannot read"),
        ("flash=0", "cannot be kept"),
        ("drop=101", "cannot be kept"),
        ("db=200", "cannot be kept"),
        ("ms=-1", "cannot read"),
        ("", "is no limit"),
    ],
)
def test_limits_that_cannot_be(text: str, says: str):
    with pytest.raises(ConfigError, match=says):
        FitLimits.parse(text)


def test_excess_counts_what_is_over():
    figures = a_problem(0).figures(())
    assert figures is not None
    assert figures.excess(Bounds()) == 0.0
    assert math.isclose(figures.excess(Bounds(cycles=figures.cycles / 2)), 1.0)


def test_choices_beside_one_differ_in_one_tensor_and_are_within_limits():
    problem = a_problem(4)
    chosen = problem.tensors[:2]
    bounds = Bounds(
        cycles=sum(max(c.cycles for c in cell.costs.values() if c) for cell in problem.cells)
    )
    found = dict(problem.beside(chosen, bounds))
    assert all(len(set(each) ^ set(chosen)) == 1 for each in found)
    assert len(found) == len(problem.tensors)
    assert all(problem.figures(each) == figures for each, figures in found.items())
    middle = sorted(figures.cycles for figures in found.values())[2]
    tight = replace(bounds, cycles=middle)
    excluded = replace(problem, excluded=(frozenset(chosen[:1]),))
    fewer = dict(excluded.beside(chosen, tight))
    assert fewer == {k: v for k, v in found.items() if v.cycles <= middle and k != chosen[:1]}
    assert () not in dict(problem.beside(chosen[:1], bounds))
