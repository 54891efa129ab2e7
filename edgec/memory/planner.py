"""Buffers in, plan out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from edgec.memory.bounds import disjoint_bound, overlap_bound
from edgec.memory.plan import ALIGNMENT_BYTES, Buffer, MemoryPlan, Overlap, Slot
from edgec.memory.problem import make_problem
from edgec.memory.search import search


def plan_memory(
    buffers: Sequence[Buffer], overlaps: Sequence[Overlap], alignment: int = ALIGNMENT_BYTES
) -> MemoryPlan:
    """Place every buffer in one arena, as small as the search finds; deterministic.

    Args:
        buffers: names unique.
        overlaps: which outputs may lie over which inputs; entries that are not legal (see
            `Overlap`) have no effect.
        alignment: offsets are multiples of this many bytes.

    Raises:
        InternalError: two buffers of one name, or an overlap of unknown buffers.
    """
    problem = make_problem(buffers, overlaps, alignment)
    found = search(problem, _floor(buffers, overlaps, alignment))
    slots = {
        buffer.name: Slot(
            offset * alignment if buffer.size_bytes else 0,
            buffer.size_bytes,
            buffer.first_step,
            buffer.end_step,
        )
        for buffer, offset in zip(buffers, found.offsets, strict=True)
    }
    return MemoryPlan(slots, found.height * alignment, disjoint_bound(buffers))


def _floor(buffers: Sequence[Buffer], overlaps: Sequence[Overlap], alignment: int) -> int:
    """The bound of the problem as it is searched: everything in whole alignment units."""
    return overlap_bound(
        [replace(buffer, size_bytes=-(-buffer.size_bytes // alignment)) for buffer in buffers],
        [
            replace(entry, distance_bytes=-(-entry.distance_bytes // alignment))
            for entry in overlaps
        ],
    )
