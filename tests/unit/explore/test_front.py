"""The front, its limits, and the rule that picks a point."""

from __future__ import annotations

import itertools

import pytest
from explore_trials import measured

from edgec.base.errors import BudgetError, ConfigError
from edgec.explore.figures import KINDS, MICROCONTROLLERS
from edgec.explore.front import Choice, Point, check_any, front_of


def rule(text: str, kind: str = MICROCONTROLLERS) -> Choice:
    return Choice.parse(text, KINDS[kind])


def point(number: int, *values: float) -> Point:
    return Point(number, {"model": "net"}, measured(*values))


POINTS = (
    point(0, 0.0, 2.0, 100.0, 10.0),
    point(1, 1.0, 1.0, 100.0, 10.0),
    point(2, 1.0, 1.0, 100.0, 10.0),
    point(3, 1.0, 2.0, 100.0, 10.0),
    point(4, 3.0, 3.0, 50.0, 10.0),
    Point(5, {"model": "net"}, None, "no room"),
)


def test_front_has_what_nothing_beats_and_equal_points_once():
    assert [each.number for each in front_of(POINTS, {})] == [0, 1, 4]
    for order in itertools.islice(itertools.permutations(POINTS), 50):
        assert {each.number for each in front_of(order, {})} == {0, 1, 4}


def test_limits_keep_points_out():
    assert [each.number for each in front_of(POINTS, {"drop": 1.0, "ms": 1.5})] == [1]


def test_rule_picks_a_point():
    front = front_of(POINTS, {})
    assert rule("drop<=0.5 smallest flash").of(front).number == 0
    assert rule("smallest flash").of(front).number == 4
    assert rule("flash<=0.05K least drop").of(front).number == 4
    with pytest.raises(BudgetError, match="the nearest one, of trial 1, has ms=1"):
        rule("ms<=0.1 smallest flash").of(front)


def test_energy_tells_boards_apart():
    slow = Point(7, {"board": "thrifty"}, measured(0.0, 3.0, 100.0, 10.0, 5.0))
    fast = Point(8, {"board": "fast"}, measured(0.0, 2.0, 100.0, 10.0, 40.0))
    unknown = Point(9, {"board": "unknown"}, measured(0.0, 3.0, 100.0, 10.0))
    front = front_of((slow, fast, unknown), {})
    assert [each.number for each in front] == [8, 7]
    assert rule("smallest uj").of(front) == slow
    assert rule("uj<=50 smallest ms").of(front) == fast
    with pytest.raises(ConfigError, match="no figure of energy"):
        rule("smallest uj").of((unknown,))


@pytest.mark.parametrize("text", ["", "smallest", "smallest size", "drop<1 smallest ms", "a b"])
def test_rule_that_cannot_be_read(text: str):
    with pytest.raises(ConfigError, match="cannot read"):
        rule(text)


def test_nothing_within_the_limits_says_what_comes_nearest():
    with pytest.raises(BudgetError, match=r"none of 6 trials is within flash<=10; .* flash=50"):
        check_any(POINTS, (), {"flash": 10.0})
    with pytest.raises(ConfigError, match="none of 1 trials could be built: no room"):
        check_any(POINTS[5:], (), {})
