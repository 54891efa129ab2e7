"""Copies of weights in RAM while their layer runs, in free parts of the memory plan.

A tile of rows reads all weights of its layer, so a layer of many pixels reads them often, and so
does one in a loop.  Where flash makes the core wait, they are copied to the arena first, before all
loops.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from edgec.ir.graph import Graph
from edgec.kernels.buffers import buffers_of, copy_name, loop_steps, scratch_name
from edgec.kernels.rows import chain_steps
from edgec.kernels.select import KernelChoice
from edgec.memory import ALIGNMENT_BYTES, Buffer, MemoryPlan, Peak, Slot, plan_memory
from edgec.target.board import Board

_GROWTH = 8
"""The arena grows by this part of itself at most, or by a few KB where that is less than half."""
_GROWTH_BYTES = 4096
"""The weights of 64 filters of depth 64: boards whose flash makes the core wait have such room."""


@dataclass(frozen=True, slots=True)
class _Wish:
    """A copy that would save something in a step."""

    step: int
    buffer: Buffer
    scratch: str
    saved_cycles: float


def with_copied_weights(
    graph: Graph,
    choices: Sequence[KernelChoice],
    board: Board,
    plan: MemoryPlan,
    resident: Container[int] = (),
    spare_bytes: int | None = None,
) -> tuple[MemoryPlan, tuple[Buffer, ...]]:
    """The plan with a buffer for each copy that pays, those that save most first.

    Args:
        graph: INTEGER stage.
        choices: the kernel of each step.
        board: what the network runs on.
        plan: the places of all other buffers, which stay.
        resident: steps whose weights lie in RAM anyway.
        spare_bytes: by which copies may let the arena grow at most; None: as much as is usual.

    Returns:
        The plan, and the buffers that it has now beside those before.
    """
    growth = _growth(plan.arena_bytes)
    most = min(
        plan.arena_bytes + (growth if spare_bytes is None else min(growth, spare_bytes)),
        plan.arena_bytes if board.arena_limit_bytes is None else board.arena_limit_bytes,
    )
    wishes = [wish for wish in _wishes(graph, choices, board) if wish.step not in resident]
    wishes.sort(key=lambda each: -each.saved_cycles)
    if graph.chains and wishes:
        together = _together(graph, choices, wishes, most)
        if together is not None:
            return together
    slots = dict(plan.arena_slots)
    added: list[Buffer] = []
    for wish in wishes:
        granted = None if wish.buffer.name in slots else _granted(slots, wish, most)
        if granted is not None:
            slots.update(granted)
            added.append(wish.buffer)
    end = max((slot.end for slot in slots.values()), default=0)
    arena_bytes = max(plan.arena_bytes, _aligned(end))
    live = plan.disjoint_bytes
    for buffer in added:
        for step in range(buffer.first_step, buffer.end_step):
            at = (s.size_bytes for s in slots.values() if s.live_at(step))
            live = max(live, sum(map(_aligned, at)))
    slots = {**plan.slots, **slots}
    return replace(plan, slots=slots, arena_bytes=arena_bytes, disjoint_bytes=live), tuple(added)


def _together(
    graph: Graph, choices: Sequence[KernelChoice], wishes: Iterable[_Wish], most: int
) -> tuple[MemoryPlan, tuple[Buffer, ...]] | None:
    """A new plan with copies that no step is too small for; None if it is larger than `most`.

    Small arenas have room in pieces: all buffers have to move for another one.
    """
    buffers, overlaps, _ = buffers_of(graph, choices)
    added: dict[str, Buffer] = {}
    for wish in wishes:
        more = added | {wish.buffer.name: wish.buffer}
        taken = wish.buffer.name in added
        if not taken and Peak.of((*buffers, *more.values()), overlaps).arena_bytes <= most:
            added = more
    plan = plan_memory((*buffers, *added.values()), overlaps)
    return (plan, tuple(added.values())) if plan.arena_bytes <= most else None


def _growth(arena_bytes: int) -> int:
    few = _GROWTH_BYTES if arena_bytes // 2 > _GROWTH_BYTES else 0
    return max(arena_bytes // _GROWTH, few)


def _wishes(graph: Graph, choices: Sequence[KernelChoice], board: Board) -> list[_Wish]:
    if board.memory is None:
        return []
    found, flash = [], board.memory.flash
    loops, chains = loop_steps(graph, choices), chain_steps(graph, choices)
    for step, choice in enumerate(choices):
        reads = choice.family.weight_reads(choice.spec)
        if reads is None:
            continue
        around = [each for each in loops if each.first_step <= step < each.end_step]
        chain = next((each for each in chains if each.holds(step)), None)
        calls = math.prod(each.loop.count for each in around)
        first, end = (around[0].first_step, around[0].end_step) if around else (step, step + 1)
        ways = [(first, end, reads.times * calls, 1)]
        if chain is not None:
            calls = chain.chain.firings[choice.node.name].count
            ways = [(step, step + 1, reads.times, calls)]
            if chain.chain.handed is None:  # else all that lasts is copied for each of its rows
                ways.append((chain.first_step, chain.end_step, reads.times * calls, 1))
        for first, end, times, copies in ways:
            saved = copies * reads._replace(times=times).saved_cycles(flash)
            if saved > 0:
                buffer = Buffer(copy_name(graph, choice), reads.size_bytes, first, end)
                found.append(_Wish(step, buffer, scratch_name(graph, choice), saved))
    return found


def _granted(slots: Mapping[str, Slot], wish: _Wish, most: int) -> dict[str, Slot] | None:
    """Slot for a copy of weights, and a new one for the step's scratch memory if it has to move.

    Args:
        slots: all that has its place.
        wish: the copy.
        most: the bytes of the arena.

    Returns:
        The slots that are new or moved; None if there is no room.
    """
    buffer = wish.buffer
    held = [
        slot
        for slot in slots.values()
        if slot.first_step < buffer.end_step and buffer.first_step < slot.end_step
    ]
    offset = _hole(held, buffer.size_bytes)
    if offset + buffer.size_bytes <= most:
        return {buffer.name: _slot(buffer, offset)}
    moved = slots.get(wish.scratch)
    if moved is None:
        return None
    held.remove(moved)
    copy = _slot(buffer, _hole(held, buffer.size_bytes))
    held = [slot for slot in held if slot.live_at(wish.step)]
    scratch = replace(moved, offset=_hole([*held, copy], moved.size_bytes))
    if max(copy.end, scratch.end) > most:
        return None
    return {buffer.name: copy, wish.scratch: scratch}


def _slot(buffer: Buffer, offset: int) -> Slot:
    return Slot(offset, buffer.size_bytes, buffer.first_step, buffer.end_step)


def _hole(slots: Iterable[Slot], size_bytes: int) -> int:
    """The lowest place for a buffer of this size beside slots that live when it does."""
    offset = 0
    for slot in sorted(slots, key=lambda each: each.offset):
        if slot.size_bytes:
            if offset + size_bytes <= slot.offset:
                break
            offset = max(offset, _aligned(slot.end))
    return offset


def _aligned(size_bytes: int) -> int:
    return -(-size_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
