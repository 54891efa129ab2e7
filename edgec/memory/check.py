"""The independent checker: runs on every compile and trusts nothing the planner computed.

Shares only the data types with the planner.  Works step by step on byte intervals, where the
planner works on pairs and alignment units.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from edgec.base.errors import MemoryPlanError
from edgec.memory.plan import ALIGNMENT_BYTES, Buffer, MemoryPlan, Overlap, Slot, Space

Steps = tuple[int, int]
"""Steps from the first number on, before the second one."""
_HINT = "this is a bug of edgec's planner; please report it with the model"


def check_plan(
    plan: MemoryPlan,
    buffers: Sequence[Buffer],
    overlaps: Sequence[Overlap],
    alignment: int = ALIGNMENT_BYTES,
    loops: Sequence[Steps] = (),
) -> None:
    """Make sure that no byte is asked to hold two things at once.

    Args:
        plan: the answer of the planner.
        buffers, overlaps, alignment: what it was asked.
        loops: steps ``[first, end)`` that are repeated.

    Raises:
        MemoryPlanError: a buffer has no slot, or one of another size or lifetime; a slot belongs to
            no buffer, is not aligned, or leaves its space; two buffers live at one step share
            bytes without an overlap that allows it; something that later turns of a loop read does
            not live until its end; or a part of the state does not live always.
    """
    asked = {buffer.name: buffer for buffer in buffers}
    if len(asked) != len(buffers):
        raise MemoryPlanError("two buffers of one name", hint=_HINT)
    for name in plan.slots:
        if name not in asked:
            raise MemoryPlanError("slot of no buffer", where=_shown(name), hint=_HINT)
    for buffer in buffers:
        _check_slot(plan, buffer, alignment)
        _check_life(plan, buffer, loops)
    allowed = _allowed(asked, overlaps, loops)
    for space in Space:
        _check_space(plan, [each for each in buffers if each.space is space], allowed)


def _check_space(
    plan: MemoryPlan, buffers: Sequence[Buffer], allowed: Mapping[tuple[str, str], int]
) -> None:
    """Make sure that buffers of one space share no bytes."""
    born: dict[int, list[str]] = defaultdict(list)
    for buffer in buffers:
        if buffer.size_bytes and buffer.end_step > buffer.first_step:
            born[buffer.first_step].append(buffer.name)
    live: list[tuple[str, Slot]] = []
    for step in sorted(born):
        live = [(name, slot) for name, slot in live if slot.end_step > step]
        for name in sorted(born[step], key=lambda each: (plan.slots[each].offset, each)):
            _check_new(live, name, plan.slots[name], allowed, step)
            live.append((name, plan.slots[name]))


def _check_slot(plan: MemoryPlan, buffer: Buffer, alignment: int) -> None:
    slot = plan.slots.get(buffer.name)
    size_bytes = plan.state_bytes if buffer.space is Space.STATE else plan.arena_bytes
    if slot is None:
        problem = "has no slot"
    elif slot.space is not buffer.space:
        problem = f"lies in the {slot.space.value}, not in the {buffer.space.value}"
    elif (slot.size_bytes, slot.first_step, slot.end_step) != (
        buffer.size_bytes,
        buffer.first_step,
        buffer.end_step,
    ):
        problem = f"was given {_place(slot)}, but is {buffer.size_bytes} bytes on steps " + (
            f"[{buffer.first_step}, {buffer.end_step})"
        )
    elif slot.offset < 0 or slot.offset + slot.size_bytes > size_bytes:
        problem = f"at {_place(slot)} leaves the {slot.space.value} of {size_bytes} bytes"
    elif slot.offset % alignment:
        problem = f"at {_place(slot)} is not aligned to {alignment} bytes"
    else:
        return
    raise MemoryPlanError(f"the buffer {problem}", where=_shown(buffer.name), hint=_HINT)


def _check_life(plan: MemoryPlan, buffer: Buffer, loops: Sequence[Steps]) -> None:
    """A buffer that comes from before a loop and reaches into it must live to its end."""
    problem = ""
    for first, end in loops:
        if buffer.first_step < first < buffer.end_step < end:
            problem = f"lives in the first turn of the loop over steps [{first}, {end}) only"
    if buffer.space is Space.STATE and (buffer.first_step or buffer.end_step < plan.steps):
        problem = "of the state does not live in all steps"
    if problem:
        where = f"{_shown(buffer.name)}, {_place(plan.slots[buffer.name])}"
        raise MemoryPlanError(f"the buffer {problem}", where=where, hint=_HINT)


def _allowed(
    asked: Mapping[str, Buffer], overlaps: Sequence[Overlap], loops: Sequence[Steps]
) -> dict[tuple[str, str], int]:
    """Distance in bytes by (output, input), where the step making the output ends the input.

    A step of a loop ends nothing that the turns before and after it need, too.
    """
    result: dict[tuple[str, str], int] = {}
    for entry in overlaps:
        output, source = asked.get(entry.output), asked.get(entry.input)
        if output is None or source is None:
            raise MemoryPlanError(
                "overlap of unknown buffers",
                where=f"{_shown(entry.output)} over {_shown(entry.input)}",
                hint=_HINT,
            )
        last_read = source.end_step - 1
        needed = any(a <= last_read < b and source.first_step < a for a, b in loops)
        if (
            output.first_step == source.end_step - entry.steps
            and output is not source
            and not needed
        ):
            key = (output.name, source.name)
            result[key] = max(result.get(key, 0), entry.distance_bytes)
    return result


def _check_new(
    live: Sequence[tuple[str, Slot]],
    name: str,
    slot: Slot,
    allowed: Mapping[tuple[str, str], int],
    step: int,
) -> None:
    """Compare a slot that begins to live at `step` with those that live already.

    Every pair that is ever live together is so at the first step of the later one.
    """
    low, high = slot.offset, slot.offset + slot.size_bytes
    sharing = [(n, s) for n, s in live if s.offset < high and low < s.offset + s.size_bytes]
    for other, other_slot in sorted(sharing, key=_by_place):
        if not (
            _keeps_distance(allowed, other, other_slot, name, slot)
            or _keeps_distance(allowed, name, slot, other, other_slot)
        ):
            first, second = sorted(((other, other_slot), (name, slot)), key=_by_place)
            raise MemoryPlanError(
                f"share memory at step {step}: {_place(first[1])} and {_place(second[1])}",
                where=f"{_shown(first[0])} and {_shown(second[0])}",
                hint=_HINT,
            )


def _by_place(item: tuple[str, Slot]) -> tuple[int, str]:
    return item[1].offset, item[0]


def _keeps_distance(
    allowed: Mapping[tuple[str, str], int], output: str, out: Slot, source: str, src: Slot
) -> bool:
    """True when `output` may lie over `source` and keeps the distance."""
    distance = allowed.get((output, source))
    return distance is not None and out.offset + distance <= src.offset


def _place(slot: Slot) -> str:
    return (
        f"bytes [{slot.offset}, {slot.offset + slot.size_bytes}) on steps "
        f"[{slot.first_step}, {slot.end_step})"
    )


def _shown(name: str) -> str:
    """An untrusted name, on one line and of bounded length."""
    text = repr(name)
    return text if len(text) <= 80 else f"{text[:77]}..."
