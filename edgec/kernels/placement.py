"""Weights in RAM while their layer runs: copies in what the plan of memory leaves free.

A tile of rows reads all weights of its layer, so a layer of many pixels reads them often.  Where
flash makes the core wait, they are copied to the arena first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from edgec.ir.graph import Graph
from edgec.kernels.buffers import copy_name
from edgec.kernels.select import KernelChoice
from edgec.memory import ALIGNMENT_BYTES, Buffer, MemoryPlan, Slot
from edgec.target.board import Board

_GROWTH = 8
"""The arena grows by this part of itself at most: less for a layer's waiting than planes of int16
may cost (`dsp.depthwise_planes`)."""


@dataclass(frozen=True, slots=True)
class _Wish:
    """A copy that would save something."""

    buffer: Buffer
    saved_cycles: float


def with_copied_weights(
    graph: Graph,
    choices: Sequence[KernelChoice],
    board: Board,
    plan: MemoryPlan,
) -> tuple[MemoryPlan, tuple[Buffer, ...]]:
    """The plan with a buffer for each copy that pays, those that save most first.

    Args:
        graph: INTEGER stage.
        choices: the kernel of each step.
        board: what the network runs on.
        plan: the places of all other buffers, which stay.

    Returns:
        The plan, and the buffers that it has now beside those before.
    """
    most = min(
        plan.arena_bytes + plan.arena_bytes // _GROWTH,
        plan.arena_bytes if board.arena_limit_bytes is None else board.arena_limit_bytes,
    )
    slots = dict(plan.slots)
    added: list[Buffer] = []
    for wish in sorted(_wishes(graph, choices, board), key=lambda each: -each.saved_cycles):
        buffer = wish.buffer
        offset = _hole(slots.values(), buffer)
        if offset + buffer.size_bytes <= most:
            slots[buffer.name] = Slot(offset, buffer.size_bytes, buffer.first_step, buffer.end_step)
            added.append(buffer)
    end = max((slot.end for slot in slots.values()), default=0)
    arena_bytes = max(plan.arena_bytes, _aligned(end))
    live = plan.disjoint_bytes
    for buffer in added:
        at = (s.size_bytes for s in slots.values() if s.live_at(buffer.first_step))
        live = max(live, sum(map(_aligned, at)))
    return replace(plan, slots=slots, arena_bytes=arena_bytes, disjoint_bytes=live), tuple(added)


def _wishes(graph: Graph, choices: Sequence[KernelChoice], board: Board) -> list[_Wish]:
    if board.memory is None:
        return []
    found = []
    for step, choice in enumerate(choices):
        reads = choice.family.weight_reads(choice.spec)
        saved = 0.0 if reads is None else reads.saved_cycles(board.memory.flash)
        if reads is not None and saved > 0:
            buffer = Buffer(copy_name(graph, choice), reads.size_bytes, step, step + 1)
            found.append(_Wish(buffer, saved))
    return found


def _hole(slots: Iterable[Slot], buffer: Buffer) -> int:
    """The lowest place for a buffer of one step beside what lives at that step."""
    offset = 0
    for slot in sorted(slots, key=lambda each: each.offset):
        if slot.size_bytes and slot.live_at(buffer.first_step):
            if offset + buffer.size_bytes <= slot.offset:
                break
            offset = max(offset, _aligned(slot.end))
    return offset


def _aligned(size_bytes: int) -> int:
    return -(-size_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
