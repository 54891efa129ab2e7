"""Buffers in, plan out.

Search for a low arrangement: many greedy orders, then a bounded local search of the order.

An arrangement is decoded from an order of the buffers: each in turn goes to the lowest place that
the ones before it leave free.  Sorting any legal arrangement by offset gives an order that decodes
to one no higher, so searching orders loses nothing.  Work is counted, not timed: the same problem
gives the same answer on every machine.

Source: the decoding is that of first-fit dynamic storage allocation (Gergov, SODA 1999, and the
allocators of TensorFlow Lite and ethos-u-vela); gaps below the size are edgec's own.
"""

from __future__ import annotations

import itertools
import math
import operator
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from edgec.memory.peak import Peak, disjoint_bound
from edgec.memory.plan import ALIGNMENT_BYTES, Buffer, MemoryPlan, Overlap, Slot, Space
from edgec.memory.problem import Problem, make_problem

# Pairs of buffers that a search may look at, for each buffer; about 0.3 us a pair in CPython.
_WORK_PAIRS = 50_000
# And altogether: a network of thousands of layers must not wait minutes for a few bytes.
_MOST_WORK_PAIRS = 20_000_000
# Moves without improvement after which a start is given up, as a multiple of the buffers.
_PATIENCE = 12


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Offsets by buffer and the height they reach, in alignment units."""

    offsets: tuple[int, ...]
    height: int

    def mirrored(self, problem: Problem) -> Arrangement:
        """Turned upside down: the answer to `problem` from that to its mirror image."""
        pairs = zip(self.offsets, problem.sizes, strict=True)
        return Arrangement(tuple(self.height - at - size for at, size in pairs), self.height)


@dataclass(frozen=True, slots=True)
class _Start:
    """An order, what it decodes to, and for which of the problem and its mirror image."""

    problem: Problem
    order: list[int]
    found: Arrangement


def decode(problem: Problem, order: Sequence[int], limit: float = math.inf) -> Arrangement | None:
    """Place the buffers in `order`, each as low as it goes; None as soon as `limit` is passed."""
    offsets = [-1] * len(problem.sizes)
    height = 0
    for i in order:
        offsets[i] = place = _lowest(problem.rivals[i], offsets)
        height = max(height, place + problem.sizes[i])
        if height > limit:
            return None
    return Arrangement(tuple(offsets), height)


def _lowest(rivals: Sequence[tuple[int, int, int]], offsets: Sequence[int]) -> int:
    """The lowest place that these rivals, those of them that have an offset, leave free."""
    blocked = [(at - below, at + above) for j, below, above in rivals if (at := offsets[j]) >= 0]
    blocked.sort()
    place = 0
    for low, high in blocked:
        if place <= low:
            break
        place = max(place, high)
    return place


def search(problem: Problem, floor: int) -> Arrangement:
    """The lowest arrangement found; stops early at `floor`, which none can be below."""
    count = len(problem.sizes)
    cost = 1 + count + sum(len(row) for row in problem.rivals)
    starts: list[_Start] = []
    for start in itertools.islice(_starts(problem), max(_MOST_WORK_PAIRS // (4 * cost), 1)):
        starts.append(start)
        if start.found.height <= floor:
            break
    starts.sort(key=lambda start: start.found.height)
    best = starts[0]
    rng = random.Random(0)
    budget = min(_WORK_PAIRS * count, _MOST_WORK_PAIRS) // cost
    for start in starts:
        if best.found.height <= floor or budget <= 0:
            break
        better, used = _improve(start, floor, budget, rng)
        budget -= used
        best = min(best, better, key=lambda start: start.found.height)
    return best.found if best.problem is problem else best.found.mirrored(problem)


def _starts(problem: Problem) -> Iterator[_Start]:
    """Arrangements of the greedy orders, each also from the top of the arena."""
    mirror: Problem | None = None
    for order in _orders(problem):
        if (found := decode(problem, order)) is not None:
            yield _Start(problem, order, found)
        mirror = mirror or problem.mirrored()
        if (found := decode(mirror, order)) is not None:
            yield _Start(mirror, order, found)


def _orders(problem: Problem) -> Iterator[list[int]]:
    """Greedy orders, the most often best first."""
    sizes, first, end = problem.sizes, problem.first_steps, problem.end_steps
    indices = range(len(sizes))
    pressure = [sizes[i] + sum(sizes[j] for j, _, _ in problem.rivals[i]) for i in indices]
    yield sorted(indices, key=lambda i: (-sizes[i], first[i]))
    yield sorted(indices, key=lambda i: (first[i], -sizes[i]))
    yield sorted(indices, key=lambda i: (-end[i], -sizes[i]))
    yield sorted(indices, key=lambda i: (-first[i], -sizes[i]))
    yield sorted(indices, key=lambda i: (end[i], -sizes[i]))
    yield sorted(indices, key=lambda i: (first[i] - end[i], -sizes[i]))
    yield sorted(indices, key=lambda i: (-(end[i] - first[i]) * sizes[i], first[i]))
    yield sorted(indices, key=lambda i: (-pressure[i], first[i]))


def _improve(start: _Start, floor: int, budget: int, rng: random.Random) -> tuple[_Start, int]:
    """Move one buffer of the tallest stack at a time, never accepting a taller arrangement.

    Returns:
        The best arrangement, and the decodings it took.
    """
    problem, order, current = start.problem, start.order, start.found
    masks = tuple(sum(1 << j for j, _, _ in row) for row in problem.rivals)
    stacks = _Stacks(problem, current)
    used = idle = 0
    while used < budget and idle < _PATIENCE * len(order) and current.height > floor:
        trial = order.copy()
        mover = rng.choice(stacks.tallest(rng))
        before, after = order.index(mover), rng.randrange(len(order))
        trial.insert(after, trial.pop(before))
        found = _with_moved(problem, masks, current, trial, (before, after))
        used += 1
        idle += 1
        if found is not None:
            idle = 0 if found.height < current.height else idle
            stacks = stacks if found.offsets == current.offsets else _Stacks(problem, found)
            order, current = trial, found
    return _Start(problem, order, current), used


def _with_moved(
    problem: Problem,
    masks: Sequence[int],
    current: Arrangement,
    order: Sequence[int],
    places: tuple[int, int],
) -> Arrangement | None:
    """Result of `decode` for an order with one buffer elsewhere; None if it is taller.

    A buffer with the same rivals before it, all of them where they were, stays where it was.

    Args:
        problem: the problem.
        masks: the bits of each buffer's rivals.
        current: what the order decodes to without the move.
        order: with the move.
        places: in the order, of the buffer before and after the move.
    """
    first, last = min(places), max(places)
    mover, old, offsets = order[places[1]], current.offsets, [-1] * len(order)
    for i in order[:first]:
        offsets[i] = old[i]
    # Buffers from the first to the last of these places have the mover before them or not.
    changed = 1 << mover
    for place in range(first, len(order)):
        i = order[place]
        if place == last + 1 and offsets[mover] == old[mover]:
            changed &= ~(1 << mover)
        if i != mover and not masks[i] & changed:
            offsets[i] = old[i]
            continue
        offsets[i] = at = _lowest(problem.rivals[i], offsets)
        if at + problem.sizes[i] > current.height:
            return None
        if at != old[i]:
            changed |= 1 << i
    return Arrangement(tuple(offsets), max(map(operator.add, offsets, problem.sizes)))


class _Stacks:
    """The tallest stacks of an arrangement."""

    def __init__(self, problem: Problem, found: Arrangement) -> None:
        self._rivals, self._offsets = problem.rivals, found.offsets
        ends = map(operator.add, found.offsets, problem.sizes)
        self._tops = [i for i, end in enumerate(ends) if end == found.height]
        self._under: dict[int, list[int]] = {}

    def tallest(self, rng: random.Random) -> list[int]:
        """A buffer that reaches the top, the one it stands on, and so on down to the ground."""
        offsets, stack = self._offsets, [rng.choice(self._tops)]
        while (at := offsets[upper := stack[-1]]) > 0:
            if upper not in self._under:
                row = self._rivals[upper]
                self._under[upper] = [j for j, _, above in row if offsets[j] + above == at]
            stack.append(rng.choice(self._under[upper]))
        return stack


def plan_memory(
    buffers: Sequence[Buffer], overlaps: Sequence[Overlap], alignment: int = ALIGNMENT_BYTES
) -> MemoryPlan:
    """Place every buffer, in an arena as small as the search finds; deterministic.

    Buffers of the state all live at once: they lie one after the other.

    Args:
        buffers: names unique.
        overlaps: which outputs may lie over which inputs; entries that are not legal (see
            `Overlap`) have no effect.
        alignment: offsets are multiples of this many bytes.

    Raises:
        InternalError: two buffers of one name, or an overlap of unknown buffers.
    """
    arena = [buffer for buffer in buffers if buffer.space is Space.ARENA]
    problem = make_problem(arena, overlaps, alignment)
    found = search(problem, Peak.of(arena, overlaps, alignment).arena_bytes // alignment)
    offsets = {
        buffer.name: offset * alignment if buffer.size_bytes else 0
        for buffer, offset in zip(arena, found.offsets, strict=True)
    }
    state_bytes = 0
    for buffer in buffers:
        if buffer.space is Space.STATE:
            offsets[buffer.name] = state_bytes
            state_bytes += -(-buffer.size_bytes // alignment) * alignment
    slots = {buffer.name: _slot(buffer, offsets[buffer.name]) for buffer in buffers}
    return MemoryPlan(slots, found.height * alignment, disjoint_bound(arena), state_bytes)


def _slot(buffer: Buffer, offset: int) -> Slot:
    return Slot(offset, buffer.size_bytes, buffer.first_step, buffer.end_step, buffer.space)
