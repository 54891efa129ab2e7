"""The independent checker: runs on every compile and trusts nothing the planner computed.

Shares only the data types with the planner.  Works step by step on byte intervals, where the
planner works on pairs and alignment units.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from edgec.base.errors import MemoryPlanError
from edgec.memory.plan import ALIGNMENT_BYTES, Buffer, MemoryPlan, Overlap, Slot

_HINT = "this is a bug of edgec's planner; please report it with the model"


def check_plan(
    plan: MemoryPlan,
    buffers: Sequence[Buffer],
    overlaps: Sequence[Overlap],
    alignment: int = ALIGNMENT_BYTES,
) -> None:
    """Make sure that no byte of the arena is asked to hold two things at once.

    Raises:
        MemoryPlanError: a buffer has no slot, or one of another size or lifetime; a slot belongs to
            no buffer, is not aligned, or leaves the arena; or two buffers live at one step share
            bytes without an overlap that allows it.
    """
    asked = {buffer.name: buffer for buffer in buffers}
    if len(asked) != len(buffers):
        raise MemoryPlanError("two buffers of one name", hint=_HINT)
    for name in plan.slots:
        if name not in asked:
            raise MemoryPlanError("slot of no buffer", where=_shown(name), hint=_HINT)
    for buffer in buffers:
        _check_slot(plan, buffer, alignment)
    allowed = _allowed(asked, overlaps)
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
    if slot is None:
        problem = "has no slot"
    elif (slot.size_bytes, slot.first_step, slot.end_step) != (
        buffer.size_bytes,
        buffer.first_step,
        buffer.end_step,
    ):
        problem = f"was given {_place(slot)}, but is {buffer.size_bytes} bytes on steps " + (
            f"[{buffer.first_step}, {buffer.end_step})"
        )
    elif slot.offset < 0 or slot.offset + slot.size_bytes > plan.arena_bytes:
        problem = f"at {_place(slot)} leaves the arena of {plan.arena_bytes} bytes"
    elif slot.offset % alignment:
        problem = f"at {_place(slot)} is not aligned to {alignment} bytes"
    else:
        return
    raise MemoryPlanError(f"the buffer {problem}", where=_shown(buffer.name), hint=_HINT)


def _allowed(
    asked: Mapping[str, Buffer], overlaps: Sequence[Overlap]
) -> dict[tuple[str, str], int]:
    """Distance in bytes by (output, input), where the step making the output ends the input."""
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
        if output.first_step == last_read and output is not source:
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
