"""Search for a low arrangement: many greedy orders, then a bounded local search of the order.

An arrangement is decoded from an order of the buffers: each in turn goes to the lowest place that
the ones before it leave free.  Sorting any legal arrangement by offset gives an order that decodes
to one no higher, so searching orders loses nothing.  Work is counted, not timed: the same problem
gives the same answer on every machine.

Source: the decoding is that of first-fit dynamic storage allocation (Gergov, SODA 1999, and the
allocators of TensorFlow Lite and ethos-u-vela); gaps below the size are edgec's own.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from edgec.memory.problem import Problem

# Pairs of buffers that a search may look at; about 0.2 us each in CPython.
_WORK_PAIRS = 1_500_000
# Moves without improvement after which a start is given up, as a multiple of the buffers.
_PATIENCE = 12


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Offsets by buffer and the height they reach, in alignment units."""

    offsets: tuple[int, ...]
    height: int


def decode(problem: Problem, order: Sequence[int], limit: int) -> Arrangement | None:
    """Place the buffers in `order`, each as low as it goes; None as soon as `limit` is passed."""
    offsets = [-1] * len(problem.sizes)
    height = 0
    for i in order:
        blocked = [
            (offsets[j] - below, offsets[j] + above)
            for j, below, above in problem.rivals[i]
            if offsets[j] >= 0
        ]
        blocked.sort()
        place = 0
        for low, high in blocked:
            if place <= low:
                break
            place = max(place, high)
        offsets[i] = place
        height = max(height, place + problem.sizes[i])
        if height > limit:
            return None
    return Arrangement(tuple(offsets), height)


def search(problem: Problem, floor: int) -> Arrangement:
    """The lowest arrangement found; stops early at `floor`, which none can be below."""
    mirror = problem.mirrored()
    sides = (problem, mirror)
    total = sum(problem.sizes)
    starts: list[tuple[int, int, list[int]]] = []
    best, best_side = Arrangement((0,) * len(problem.sizes), total + 1), 0
    for side, order in ((s, o) for o in _orders(problem) for s in (0, 1)):
        found = decode(sides[side], order, total)
        if found is None:
            continue
        starts.append((found.height, side, order))
        if found.height < best.height:
            best, best_side = found, side
        if best.height <= floor:
            break
    starts.sort(key=lambda start: start[0])
    rng = random.Random(0)
    budget = _WORK_PAIRS // (1 + sum(len(row) for row in problem.rivals) // 2)
    for _, side, order in starts:
        if best.height <= floor or budget <= 0:
            break
        found, used = _improve(sides[side], order, floor, budget, rng)
        budget -= used
        if found.height < best.height:
            best, best_side = found, side
    return _unmirrored(mirror, best) if best_side else best


def _unmirrored(problem: Problem, found: Arrangement) -> Arrangement:
    offsets = tuple(
        found.height - at - size for at, size in zip(found.offsets, problem.sizes, strict=True)
    )
    return Arrangement(offsets, found.height)


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


def _improve(
    problem: Problem, order: list[int], floor: int, budget: int, rng: random.Random
) -> tuple[Arrangement, int]:
    """Move one buffer of the tallest stack at a time, never accepting a taller arrangement.

    Returns:
        The best arrangement, and the decodings it took.
    """
    current = decode(problem, order, sum(problem.sizes) + 1)
    if current is None:
        raise AssertionError
    used, idle = 1, 0
    while used < budget and idle < _PATIENCE * len(order) and current.height > floor:
        trial = order.copy()
        mover = rng.choice(_tallest_stack(problem, current, rng))
        trial.remove(mover)
        trial.insert(rng.randrange(len(order)), mover)
        found = decode(problem, trial, current.height)
        used += 1
        idle += 1
        if found is not None:
            idle = 0 if found.height < current.height else idle
            order, current = trial, found
    return current, used


def _tallest_stack(problem: Problem, found: Arrangement, rng: random.Random) -> list[int]:
    """A buffer that reaches the top, the one it stands on, and so on down to the ground."""
    tops = [i for i, at in enumerate(found.offsets) if at + problem.sizes[i] == found.height]
    stack = [rng.choice(tops)]
    while (at := found.offsets[stack[-1]]) > 0:
        under = [j for j, _, above in problem.rivals[stack[-1]] if found.offsets[j] + above == at]
        stack.append(rng.choice(under))
    return stack
