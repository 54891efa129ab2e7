"""The checker finds every corruption of a plan that could harm, and the picture of a plan."""

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from edgec.base.errors import MemoryPlanError
from edgec.memory import Buffer, MemoryPlan, Overlap, Slot, check_plan, plan_memory, render_plan

BUFFERS = [
    Buffer("x", 100, 0, 2),
    Buffer("y", 100, 1, 4),
    Buffer("scratch", 24, 1, 2),
    Buffer("z", 40, 3, 5),
]
OVERLAPS = [Overlap("y", "x", 8), Overlap("z", "y", 0)]


def placed(*offsets: int, arena: int = 400) -> MemoryPlan:
    slots = {
        b.name: Slot(at, b.size_bytes, b.first_step, b.end_step)
        for b, at in zip(BUFFERS, offsets, strict=True)
    }
    return MemoryPlan(slots, arena, 0)


def changed(plan: MemoryPlan, name: str, slot: Slot | None) -> MemoryPlan:
    slots = {**plan.slots, name: slot}
    return replace(plan, slots={n: s for n, s in slots.items() if s is not None})


def rejected(plan: MemoryPlan, *words: str, overlaps: list[Overlap] = OVERLAPS) -> None:
    with pytest.raises(MemoryPlanError) as caught:
        check_plan(plan, BUFFERS, overlaps)
    for word in words:
        assert word in str(caught.value)


def test_legal_plans() -> None:
    check_plan(placed(0, 104, 208, 0), BUFFERS, [])
    check_plan(placed(8, 0, 112, 0), BUFFERS, OVERLAPS)
    check_plan(plan_memory(BUFFERS, OVERLAPS), BUFFERS, OVERLAPS)


def test_error_names_buffers_steps_and_addresses() -> None:
    rejected(
        placed(0, 96, 208, 0),
        "'x' and 'y'",
        "step 1",
        "bytes [0, 100) on steps [0, 2)",
        "bytes [96, 196) on steps [1, 4)",
    )


def test_output_too_close_below_its_input() -> None:
    check_plan(placed(8, 0, 112, 200), BUFFERS, OVERLAPS)
    rejected(placed(0, 0, 112, 200), "'x' and 'y'")


def test_output_above_its_input() -> None:
    rejected(placed(0, 8, 112, 200), "'x' and 'y'")


def test_overlap_needs_an_entry() -> None:
    rejected(placed(8, 0, 112, 200), "'y' and 'x'", overlaps=[])


def test_entry_does_not_work_in_reverse() -> None:
    rejected(placed(8, 0, 112, 200), "'y' and 'x'", overlaps=[Overlap("x", "y", 0)])


def test_entry_needs_the_inputs_last_step() -> None:
    buffers = [Buffer("x", 8, 0, 3), Buffer("y", 8, 1, 4)]
    slots = {b.name: Slot(0, 8, b.first_step, b.end_step) for b in buffers}
    with pytest.raises(MemoryPlanError, match="share memory at step 1"):
        check_plan(MemoryPlan(slots, 8, 16), buffers, [Overlap("y", "x", 0)])


def test_largest_distance_counts() -> None:
    rejected(placed(8, 0, 112, 200), overlaps=[Overlap("y", "x", 8), Overlap("y", "x", 16)])


def test_scratch_of_the_step_is_disjoint_from_both() -> None:
    rejected(placed(8, 0, 96, 200), "'y' and 'scratch'")
    rejected(placed(8, 0, 104, 200), "'x' and 'scratch'")


def test_conflict_hidden_behind_a_third_buffer() -> None:
    # The long buffer reaches over a small legal neighbour into the next one.
    buffers = [Buffer("long", 64, 0, 1), Buffer("in", 8, 0, 1), Buffer("far", 8, 0, 1)]
    slots = {"long": Slot(0, 64, 0, 1), "in": Slot(16, 8, 0, 1), "far": Slot(32, 8, 0, 1)}
    with pytest.raises(MemoryPlanError, match="'long' and 'far'"):
        check_plan(MemoryPlan(slots, 64, 0), buffers, [Overlap("long", "in", 8)])


def test_misaligned() -> None:
    rejected(placed(0, 108, 212, 0), "'y'", "not aligned")
    check_plan(placed(0, 108, 212, 0), BUFFERS, [], alignment=4)


def test_leaves_the_arena() -> None:
    rejected(placed(0, 104, 208, 0, arena=224), "'scratch'", "leaves the arena")
    rejected(placed(-8, 104, 208, 0), "'x'", "leaves the arena")


def test_missing_slot() -> None:
    rejected(changed(placed(0, 104, 208, 0), "y", None), "'y'", "no slot")


def test_slot_of_no_buffer() -> None:
    rejected(changed(placed(0, 104, 208, 0), "w\n", Slot(0, 0, 0, 1)), "'w\\n'", "no buffer")


@pytest.mark.parametrize("change", [{"size_bytes": 99}, {"first_step": 0}, {"end_step": 3}])
def test_slot_of_another_size_or_lifetime(change: dict[str, int]) -> None:
    plan = placed(0, 104, 208, 0)
    rejected(changed(plan, "y", replace(plan.slots["y"], **change)), "'y'", "was given")


def test_bad_problem() -> None:
    plan = placed(0, 104, 208, 0)
    rejected(plan, "unknown", overlaps=[Overlap("y", "q" * 200, 0)])
    with pytest.raises(MemoryPlanError, match="one name"):
        check_plan(plan, [*BUFFERS, BUFFERS[0]], [])


@st.composite
def random_problems(draw: st.DrawFn) -> tuple[list[Buffer], list[Overlap]]:
    """A random network: tensor i is made by step i from one or two earlier tensors."""
    count = draw(st.integers(2, 12))
    sizes = draw(st.lists(st.integers(0, 60), min_size=count, max_size=count))
    reads = [draw(st.sets(st.integers(max(0, i - 3), i - 1), max_size=2)) for i in range(1, count)]
    last = {source: i for i, sources in enumerate(reads, 1) for source in sources}
    buffers = [Buffer(f"t{i}", sizes[i], i, last.get(i, i) + 1) for i in range(count)]
    overlaps = [
        Overlap(f"t{i}", f"t{source}", draw(st.integers(0, 40)))
        for i, sources in enumerate(reads, 1)
        for source in sources
    ]
    return buffers, overlaps


def harmful(plan: MemoryPlan, buffers: list[Buffer], overlaps: list[Overlap]) -> bool:
    """Byte by byte: does a live byte belong to two buffers that may not share it?"""
    distance = {(e.output, e.input): e.distance_bytes for e in overlaps}
    for a in buffers:
        for b in buffers:
            both = set(range(a.first_step, a.end_step)) & set(range(b.first_step, b.end_step))
            at, bt = plan.slots[a.name].offset, plan.slots[b.name].offset
            bytes_a, bytes_b = range(at, at + a.size_bytes), range(bt, bt + b.size_bytes)
            if a is b or not both or not set(bytes_a) & set(bytes_b):
                continue
            ab, ba = distance.get((a.name, b.name)), distance.get((b.name, a.name))
            fine = (ab is not None and a.first_step == b.end_step - 1 and at + ab <= bt) or (
                ba is not None and b.first_step == a.end_step - 1 and bt + ba <= at
            )
            if not fine:
                return True
    return False


@settings(max_examples=300, deadline=None, derandomize=True)
@given(random_problems(), st.data())
def test_moved_slot_is_caught_unless_harmless(
    problem: tuple[list[Buffer], list[Overlap]], data: st.DataObject
) -> None:
    buffers, overlaps = problem
    plan = plan_memory(buffers, overlaps)
    name = data.draw(st.sampled_from([b.name for b in buffers]))
    slot = plan.slots[name]
    offset = 8 * data.draw(st.integers(0, max(0, plan.arena_bytes - slot.size_bytes) // 8))
    assume(offset != slot.offset)
    moved = changed(plan, name, replace(slot, offset=offset))
    if harmful(moved, buffers, overlaps):
        with pytest.raises(MemoryPlanError):
            check_plan(moved, buffers, overlaps)
    else:
        check_plan(moved, buffers, overlaps)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    random_problems(),
    st.data(),
    st.sampled_from(["offset", "size_bytes", "first_step", "end_step"]),
    st.sampled_from([-8, -3, -1, 1, 3]),
)
def test_every_changed_number_is_caught(
    problem: tuple[list[Buffer], list[Overlap]], data: st.DataObject, field: str, change: int
) -> None:
    buffers, overlaps = problem
    plan = plan_memory(buffers, overlaps)
    name = data.draw(st.sampled_from([b.name for b in buffers]))
    slot = plan.slots[name]
    corrupt = replace(slot, **{field: getattr(slot, field) + change})
    # A move by a whole unit may be harmless: that is the test above.
    assume(field != "offset" or change % 8 or corrupt.offset < 0)
    with pytest.raises(MemoryPlanError):
        check_plan(changed(plan, name, corrupt), buffers, overlaps)


# --- the picture ---------------------------------------------------------------------------------


def test_picture() -> None:
    assert render_plan(placed(8, 0, 112, 0, arena=160), width=20) == (
        " step     bytes  |0                160|",
        "    0       100  |.AAAAAAAAAAAAA......|",
        "    1       132  |B************ACCC...|",
        "    2       100  |BBBBBBBBBBBBB.......|",
        "    3       100  |*****BBBBBBBB.......|",
        "    4        40  |DDDDD...............|",
    )


def test_picture_of_nothing() -> None:
    assert len(render_plan(MemoryPlan({}, 0, 0))) == 1
    assert render_plan(MemoryPlan({"e": Slot(0, 0, 0, 1)}, 0, 0), width=4)[1].endswith("|....|")


def test_picture_shows_buffers_smaller_than_a_cell() -> None:
    plan = MemoryPlan({"a": Slot(0, 8, 0, 1), "b": Slot(8, 10_000, 0, 1)}, 10_008, 10_008)
    assert render_plan(plan, width=10)[1].endswith("|*BBBBBBBBB|")
