"""The least arena that a choice of sizes needs, asked again and again: `Peak`.

A planner that tries other choices for a layer changes the sizes of a few buffers and what may lie
over what.  Only the steps at which these live are counted again, so that a question takes a part of
a millisecond where a plan takes a second.  The answer is a floor that plans of most networks reach.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from edgec.memory.plan import ALIGNMENT_BYTES, Buffer, Overlap, Space
from edgec.memory.problem import legal_distances

# Orders of up to this many overlapping buffers are tried; 6! = 720.
_MAX_EXACT = 6


@dataclass(frozen=True, slots=True, eq=False)
class Peak:
    """Bytes that each step needs by itself, its overlaps used: the floor of any plan.

    Not always reachable: a plan must suit all steps at once.

    Attributes:
        buffers: those of the arena, by name.
        overlaps: by the output that they are of.
        by_step: bytes that each step needs.
        counted: steps that were counted to make this.
        alignment: sizes and distances are rounded up to multiples of this many bytes.
    """

    buffers: Mapping[str, Buffer]
    overlaps: Mapping[str, tuple[Overlap, ...]]
    by_step: tuple[int, ...]
    counted: int
    alignment: int

    @classmethod
    def of(
        cls,
        buffers: Iterable[Buffer],
        overlaps: Iterable[Overlap],
        alignment: int = ALIGNMENT_BYTES,
    ) -> Peak:
        """The peak of these buffers, whose names are unique; those of the state are left out."""
        found = {each.name: each for each in buffers if each.space is Space.ARENA}
        outputs: dict[str, tuple[Overlap, ...]] = {}
        for each in overlaps:
            outputs[each.output] = (*outputs.get(each.output, ()), each)
        steps = max((each.end_step for each in found.values()), default=0)
        return cls(found, outputs, (0,) * steps, 0, alignment)._counted(range(steps))

    @property
    def arena_bytes(self) -> int:
        """Bytes that the arena has at least."""
        return max(self.by_step, default=0)

    def with_sizes(
        self, sizes: Mapping[str, int], overlaps: Mapping[str, tuple[Overlap, ...]] | None = None
    ) -> Peak:
        """The peak with other choices.

        Args:
            sizes: bytes of the buffers that change, by name.
            overlaps: all overlaps of the outputs that change, by name of the output.
        """
        changed = {name: replace(self.buffers[name], size_bytes=n) for name, n in sizes.items()}
        steps = {
            step for each in changed.values() for step in range(each.first_step, each.end_step)
        }
        for name, entries in (overlaps or {}).items():
            first = self.buffers[name].first_step
            end = first + max((each.steps for each in entries), default=1)
            steps |= set(range(first, min(end, len(self.by_step))))
        return replace(
            self,
            buffers={**self.buffers, **changed},
            overlaps={**self.overlaps, **(overlaps or {})},
        )._counted(sorted(steps))

    def _counted(self, steps: Sequence[int]) -> Peak:
        """This peak with some steps counted again."""
        live: dict[int, list[Buffer]] = {step: [] for step in steps}
        for each in self.buffers.values():
            for step in range(each.first_step, each.end_step):
                if step in live:
                    live[step].append(each)
        found = list(self.by_step)
        for step, here in live.items():
            names = {each.name for each in here}
            overlaps = [
                entry
                for each in here
                for entry in self.overlaps.get(each.name, ())
                if entry.input in names and step < each.first_step + entry.steps
            ]
            found[step] = _step_bytes(here, overlaps, self.alignment)
        return replace(self, by_step=tuple(found), counted=len(steps))


def _step_bytes(live: Sequence[Buffer], overlaps: Sequence[Overlap], alignment: int) -> int:
    """Least bytes that the buffers live at a step take together.

    A buffer without overlaps shares its bytes with no other one, so cutting it out of the arena
    leaves a legal placement of the rest: it adds its whole size.
    """
    distances = legal_distances(live, overlaps)
    sizes = [_aligned(each.size_bytes, alignment) for each in live]
    linked = sorted({i for pair in distances for i in pair})
    alone = sum(sizes) - sum(sizes[i] for i in linked)
    if len(linked) > _MAX_EXACT:
        return alone + max(sizes[i] for i in linked)
    gaps = {(a, b): min(_aligned(d, alignment), sizes[a]) for (a, b), d in distances.items()}
    orders = itertools.permutations(linked)
    return alone + min((_span(order, sizes, gaps) for order in orders), default=0)


def _aligned(size_bytes: int, alignment: int) -> int:
    return -(-size_bytes // alignment) * alignment


def _span(order: Sequence[int], sizes: Sequence[int], gaps: Mapping[tuple[int, int], int]) -> int:
    """Bytes taken when each buffer in turn lies as low as the ones before it, below it, allow."""
    offsets: dict[int, int] = {}
    for i in order:
        offsets[i] = max([0, *(at + gaps.get((j, i), sizes[j]) for j, at in offsets.items())])
    return max((offsets[i] + sizes[i] for i in order), default=0)


def disjoint_bound(buffers: Iterable[Buffer]) -> int:
    """Largest sum of `size_bytes` live at one step: the floor of any plan without overlaps."""
    change: dict[int, int] = defaultdict(int)
    for buffer in buffers:
        change[buffer.first_step] += buffer.size_bytes
        change[buffer.end_step] -= buffer.size_bytes
    return max(itertools.accumulate(change[step] for step in sorted(change)), default=0)
