"""Sizes that no plan can go below, without and with overlaps."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from edgec.memory.plan import Buffer, Overlap
from edgec.memory.problem import legal_distances

# Orders of up to this many overlapping buffers are tried; 6! = 720.
_MAX_EXACT = 6


def disjoint_bound(buffers: Iterable[Buffer]) -> int:
    """Largest sum of `size_bytes` live at one step: the floor of any plan without overlaps."""
    change: dict[int, int] = defaultdict(int)
    for buffer in buffers:
        change[buffer.first_step] += buffer.size_bytes
        change[buffer.end_step] -= buffer.size_bytes
    return max(itertools.accumulate(change[step] for step in sorted(change)), default=0)


def overlap_bound(buffers: Sequence[Buffer], overlaps: Sequence[Overlap]) -> int:
    """Bytes that at least one step needs by itself, its overlaps used: the floor of any plan.

    Not always reachable: a plan must suit all steps at once.

    Raises:
        InternalError: see `legal_distances`.
    """
    by_step: dict[int, dict[tuple[int, int], int]] = defaultdict(dict)
    for pair, distance in legal_distances(buffers, overlaps).items():
        by_step[buffers[pair[0]].first_step][pair] = distance
    steps = {buffer.first_step for buffer in buffers}
    return max((_step_bound(buffers, by_step[step], step) for step in steps), default=0)


def _step_bound(
    buffers: Sequence[Buffer], distances: Mapping[tuple[int, int], int], step: int
) -> int:
    """Least bytes that the buffers live at `step` take together.

    A buffer without overlaps shares its bytes with no other one, so cutting it out of the arena
    leaves a legal placement of the rest: it adds its whole size.
    """
    live = {i for i, b in enumerate(buffers) if b.first_step <= step < b.end_step}
    linked = sorted({i for pair in distances for i in pair})
    alone = sum(buffers[i].size_bytes for i in live.difference(linked))
    if len(linked) > _MAX_EXACT:
        return alone + max(buffers[i].size_bytes for i in linked)
    sizes = [buffers[i].size_bytes for i in linked]
    position = {i: k for k, i in enumerate(linked)}
    gaps = {
        (position[a], position[b]): min(d, sizes[position[a]]) for (a, b), d in distances.items()
    }
    return alone + min(
        (_span(order, sizes, gaps) for order in itertools.permutations(range(len(linked)))),
        default=0,
    )


def _span(order: Sequence[int], sizes: Sequence[int], gaps: Mapping[tuple[int, int], int]) -> int:
    """Bytes taken when each buffer in turn lies as low as the ones before it, below it, allow."""
    offsets: dict[int, int] = {}
    for i in order:
        offsets[i] = max([0, *(at + gaps.get((j, i), sizes[j]) for j, at in offsets.items())])
    return max((offsets[i] + sizes[i] for i in order), default=0)
