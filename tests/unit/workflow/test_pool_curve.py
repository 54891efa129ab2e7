"""What a curve of pools says is good enough."""

import pytest

from edgec.workflow.pool_search import PoolCurve, is_enough


@pytest.mark.parametrize(
    ("real", "max_drop", "goal"), [(0.9, 1.5, 0.885), (0.9, 0.0, 0.9), (0.3, 50.0, 0.0)]
)
def test_the_goal_is_a_share_and_enough(real: float, max_drop: float, goal: float) -> None:
    curve = PoolCurve("m", "", 200, max_drop, real, real, 1000, 2, (), None)
    assert curve.goal == pytest.approx(goal)
    assert is_enough(curve.goal, real, max_drop)
    assert is_enough(goal - 0.005, real, max_drop) == (goal == 0.0)
