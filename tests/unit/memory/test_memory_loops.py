"""Plans of steps that repeat, and of a state: what the planner gives and the checker asks."""

from dataclasses import replace

import pytest

from edgec.base.errors import MemoryPlanError
from edgec.memory import Buffer, MemoryPlan, Overlap, Space, check_plan, plan_memory

LOOP = ((2, 5),)
HELD = Buffer("held", 64, 0, 5)
LOCAL = Buffer("local", 32, 2, 4)
MADE = Buffer("made", 32, 3, 5)
LAST = Buffer("last", 16, 4, 8)
STATE = [Buffer("a", 12, 0, 8, Space.STATE), Buffer("b", 3, 0, 8, Space.STATE)]
BUFFERS = [HELD, LOCAL, MADE, LAST, *STATE]


def problem_of(plan: MemoryPlan, buffers: list[Buffer], overlaps: tuple[Overlap, ...] = ()) -> str:
    with pytest.raises(MemoryPlanError) as caught:
        check_plan(plan, buffers, overlaps, loops=LOOP)
    return str(caught.value)


def test_state_lies_in_memory_of_its_own():
    plan = plan_memory(BUFFERS, [])
    check_plan(plan, BUFFERS, [], loops=LOOP)
    assert (plan.slots["a"].offset, plan.slots["b"].offset) == (0, 16)
    assert plan.state_bytes == 24
    assert plan.arena_bytes == 64 + 32 + 32
    assert set(plan.arena_slots) == {"held", "local", "made", "last"}


def test_the_arena_is_what_it_is_without_a_state():
    with_state, without = plan_memory(BUFFERS, []), plan_memory(BUFFERS[:4], [])
    assert dict(with_state.arena_slots) == dict(without.slots)
    assert with_state.arena_bytes == without.arena_bytes


def test_what_comes_from_before_a_loop_lives_to_its_end():
    short = replace(HELD, end_step=4)
    found = problem_of(plan_memory([short, LOCAL], []), [short, LOCAL])
    assert "first turn of the loop over steps [2, 5) only" in found


def test_a_value_of_a_turn_may_live_on_after_the_loop():
    check_plan(plan_memory([LOCAL, LAST], []), [LOCAL, LAST], [], loops=LOOP)


def test_no_step_of_a_loop_may_write_over_what_other_turns_read():
    """As in a plan for steps that run once, where the last reader of `held` may."""
    overlaps = (Overlap("last", "held", 0),)
    plan = plan_memory([HELD, LAST], overlaps)
    assert plan.arena_bytes == 64
    check_plan(plan, [HELD, LAST], overlaps)
    assert "share memory at step 4" in problem_of(plan, [HELD, LAST], overlaps)


def test_within_a_turn_outputs_may_lie_over_inputs():
    made = replace(MADE, first_step=3)
    overlaps = (Overlap("made", "local", 0),)
    plan = plan_memory([LOCAL, made], overlaps)
    assert plan.arena_bytes == 32
    check_plan(plan, [LOCAL, made], overlaps, loops=LOOP)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"offset": 8}, "share memory"),
        ({"offset": 16, "size_bytes": 3, "space": Space.ARENA}, "lies in the arena"),
        ({"offset": 24}, "leaves the state of 24 bytes"),
        ({"offset": 18}, "not aligned"),
    ],
)
def test_damage_to_the_state_is_found(change, words):
    plan = plan_memory(BUFFERS, [])
    slots = {**plan.slots, "b": replace(plan.slots["b"], **change)}
    assert words in problem_of(replace(plan, slots=slots), BUFFERS)


def test_state_that_ends_is_refused():
    buffers = [HELD, LAST, replace(STATE[0], end_step=7)]
    assert "does not live in all steps" in problem_of(plan_memory(buffers, []), buffers)
