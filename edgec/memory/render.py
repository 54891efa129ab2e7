"""A text picture of a plan: time runs down, addresses run to the right."""

from __future__ import annotations

import math
import string

from edgec.memory.plan import MemoryPlan

_LETTERS = string.ascii_uppercase + string.ascii_lowercase


def render_plan(plan: MemoryPlan, width: int = 64) -> tuple[str, ...]:
    """One line for each step: its number, the bytes in use, and who lives where in the arena.

    Buffers are lettered in the plan's order, starting over after 52; ``.`` is free, ``*`` holds an
    output lying over its input, or several buffers too small to show one by one.

    Args:
        plan: the plan.
        width: characters that stand for the whole arena.
    """
    letters = {name: _LETTERS[i % len(_LETTERS)] for i, name in enumerate(plan.arena_slots)}
    return (
        f"{'step':>5} {'bytes':>9}  |0{plan.arena_bytes:>{width - 1}}|",
        *(
            f"{step:>5} {_bytes_in_use(plan, step):>9}  |{_bar(plan, step, letters, width)}|"
            for step in range(plan.steps)
        ),
    )


def _bytes_in_use(plan: MemoryPlan, step: int) -> int:
    """Bytes that hold something at `step`; those of an overlap count once."""
    used = reached = 0
    for slot in sorted(plan.arena_slots.values(), key=lambda slot: slot.offset):
        if slot.live_at(step):
            used += max(0, slot.end - max(reached, slot.offset))
            reached = max(reached, slot.end)
    return used


def _bar(plan: MemoryPlan, step: int, letters: dict[str, str], width: int) -> str:
    cells = ["."] * width
    for name, slot in plan.arena_slots.items():
        if not (slot.live_at(step) and slot.size_bytes):
            continue
        first = slot.offset * width // plan.arena_bytes
        last = max(first + 1, math.ceil(slot.end * width / plan.arena_bytes))
        for cell in range(first, min(last, width)):
            cells[cell] = letters[name] if cells[cell] == "." else "*"
    return "".join(cells)
