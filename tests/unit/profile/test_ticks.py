"""Marks of axes: round numbers inside the axis, however short, long or far from 0 it is."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from page_samples import search

from edgec.explore.page import render_explore_html
from edgec.profile.plot import HEIGHT, LINE, ZOOMS, Linear, Log
from edgec.profile.ticks import counted, levels, percent, round_step, ticks

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("kind", [Linear, Log])
def test_any_axis_has_a_few_marks_inside_it(kind: type[Linear | Log]) -> None:
    for _ in range(300):
        low = 10.0 ** RNG.uniform(-7, 8)
        axis = kind(low, low * 10.0 ** RNG.uniform(0.01, 6))
        marks = ticks(axis)
        assert 2 <= len(marks) <= 25
        numbers = [float(mark.text) for mark in marks]
        assert all(a < b for a, b in itertools.pairwise(numbers))
        assert all(-1e-6 <= mark.at <= 1 + 1e-6 for mark in marks)
        for mark, number in zip(marks, numbers, strict=True):
            assert axis.at(number) == pytest.approx(mark.at, abs=1e-4)


def test_marks_are_written_as_asked() -> None:
    assert [mark.text for mark in ticks(Linear(0, 4600), counted)] == [
        "0", "1,000", "2,000", "3,000", "4,000",
    ]  # fmt: skip
    shares = [mark.text for mark in ticks(Linear(0.87, 0.91), percent)]
    assert shares == ["87 %", "88 %", "89 %", "90 %", "91 %"]
    assert [mark.text for mark in ticks(Log(0.9, 30))] == ["1", "2", "5", "10", "20"]
    assert [mark.text for mark in ticks(Log(3, 5))] == ["3", "3.5", "4", "4.5", "5"]


def test_whole_numbers_are_said_once_each() -> None:
    for high in (1.0, 2.0, 3.0, 7.0):
        texts = [mark.text for mark in ticks(Linear(0, high), counted, whole=True)]
        assert len(set(texts)) == len(texts) >= 2
    assert len(ticks(Linear(0, 8.6), counted, step=1.0)) == 9


def test_steps_are_the_least_round_ones() -> None:
    for value in 10.0 ** RNG.uniform(-6, 9, 200):
        step = round_step(float(value))
        assert value <= step < 2.5000001 * value
        assert round(step / 10.0 ** math.floor(math.log10(step) + 1e-9), 9) in (1, 2, 5)


@pytest.mark.parametrize("factor", [1e-8, 1e7])
def test_trials_of_any_time_have_a_page(factor: float) -> None:
    """From nanoseconds to days: a search of a large network with all its weights in slow memory."""
    state = search()
    points = tuple(
        each
        if each.figures is None
        else replace(each, figures={**each.figures, "ms": each.value("ms") * factor})
        for each in state.points
    )
    page = render_explore_html(replace(state, points=points))
    assert page.count('class="tick x') >= 4


@pytest.mark.parametrize("kind", [Linear, Log])
def test_enlarged_axes_have_more_marks(kind: type[Linear | Log]) -> None:
    for _ in range(100):
        low = 10.0 ** RNG.uniform(-3, 3)
        axis = kind(low, low * 10.0 ** RNG.uniform(0.05, 4))
        counts = [len(marks) for marks in levels(axis)]
        assert len(counts) == len(ZOOMS)
        assert counts == sorted(counts)
        assert counts[0] == len(ticks(axis))
        for marks in levels(axis):
            assert len({mark.text for mark in marks}) == len(marks)
    whole = levels(Linear(0, 6), counted, whole=True)
    assert [mark.text for mark in whole[-1]] == ["0", "1", "2", "3", "4", "5", "6"]


def test_texts_beside_a_logarithmic_axis_are_lines_apart() -> None:
    """As they are in the middle of a plot of any enlargement; nothing else thins those of y."""
    for _ in range(300):
        low = 10.0 ** RNG.uniform(-3, 3)
        axis = Log(low, low * 10.0 ** RNG.uniform(0.05, 7))
        for zoom, marks in zip(ZOOMS, levels(axis), strict=True):
            gaps = [b.at - a.at for a, b in itertools.pairwise(marks)]
            assert min(gaps) * zoom * HEIGHT >= LINE, (axis, zoom)
