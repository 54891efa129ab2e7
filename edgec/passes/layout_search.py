"""Choice of a frame for every root: the fewest elements to transpose, found by descent.

Starts from the frames the graph has, and only accepts steps that lower the cost, so it ends and
never makes a graph worse.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from edgec.ir.layout import Freedom, Perm, compose, inverse
from edgec.passes.layout_refs import Ref, Refs, Use, place

Frames = dict[str, Perm]
Region = Mapping[str, Perm]
"""Roots whose frames move together: ``frame[root] = compose(region[root], seed frame)``."""


def choose_frames(refs: Refs) -> Frames:
    """A frame for every root; identity where nothing can be gained."""
    frames = {root: tuple(range(len(shape))) for root, shape in refs.shapes.items()}
    regions = [*_regions(refs), *_single(refs)]
    feeds = _feeds(refs)
    improved = True
    while improved:
        improved = False
        for region in regions:
            improved |= _improve(refs, feeds, frames, region)
    return frames


def transposed_elements(refs: Refs, frames: Mapping[str, Perm], roots: Iterable[str]) -> int:
    """Elements that have to be transposed to serve all readings of some roots."""
    total = 0
    for root in roots:
        available = refs.order(root, frames[root])
        missing = set()
        for use in refs.uses[root]:
            wanted = use.needs(frames)
            if not use.accepts(wanted, available):
                missing.add(wanted.order)
        total += refs.elements(root) * len(missing)
    return total


def _single(refs: Refs) -> list[Region]:
    return [
        {root: tuple(range(len(shape)))}
        for root, shape in refs.shapes.items()
        if refs.freedom[root] is not Freedom.FIXED and len(shape) > 1
    ]


def _feeds(refs: Refs) -> dict[str, tuple[Use, ...]]:
    """The readings that each root's operator makes."""
    feeds: dict[str, list[Use]] = {root: [] for root in refs.shapes}
    for uses in refs.uses.values():
        for use in uses:
            if use.reader is not None:
                feeds[use.reader].append(use)
    return {root: tuple(found) for root, found in feeds.items()}


def _regions(refs: Refs) -> list[Region]:
    """Maximal sets of roots of free layout that read each other with no loss of axes."""
    neighbours = _neighbours(refs)
    regions: list[Region] = []
    seen: set[str] = set()
    for seed in neighbours:
        if seed in seen:
            continue
        region = {seed: tuple(range(len(refs.shapes[seed])))}
        queue = deque([seed])
        while queue:
            root = queue.popleft()
            for other, step in neighbours[root]:
                if other not in region:
                    region[other] = compose(step, region[root])
                    queue.append(other)
        seen.update(region)
        if len(region) > 1:
            regions.append(region)
    return regions


def _neighbours(refs: Refs) -> dict[str, list[tuple[str, Perm]]]:
    """For each free root the free roots it reads or that read it, with ``frame[other] =
    compose(step, frame[root])``.
    """
    found: dict[str, list[tuple[str, Perm]]] = {
        root: [] for root, how in refs.freedom.items() if how is Freedom.ANY
    }
    for root, others in found.items():
        for use in refs.uses[root]:
            if use.reader is not None and use.reader in found:
                perm = _as_permutation(refs, use.ref)
                if perm is not None:
                    others.append((use.reader, inverse(perm)))
                    found[use.reader].append((root, perm))
    return found


def _as_permutation(refs: Refs, ref: Ref) -> Perm | None:
    """The permutation that makes the value from its root, if it is one axis to one axis."""
    shape = refs.shapes[ref.root]
    if len(shape) != len(ref.groups) or any(len(group) > 1 for group in ref.groups):
        return None
    ones = iter(axis for axis, size in enumerate(shape) if size == 1)
    return tuple(group[0] if group else next(ones) for group in ref.groups)


def _improve(
    refs: Refs, feeds: Mapping[str, tuple[Use, ...]], frames: Frames, region: Region
) -> bool:
    """Move one region to its cheapest frames; whether that lowered the cost."""
    now = {root: frames[root] for root in region}
    # Mostly nothing else is possible; then the readings need not be counted.
    others = [trial for trial in _trials(refs, feeds, frames, region) if trial != now]
    if not others:
        return False
    touched = set(region) | {use.ref.root for root in region for use in feeds[root]}
    best = now
    before = cost = transposed_elements(refs, frames, touched)
    for trial in others:
        trial_cost = transposed_elements(refs, {**frames, **trial}, touched)
        if trial_cost < cost:
            best, cost = trial, trial_cost
    frames.update(best)
    return cost < before


def _trials(
    refs: Refs, feeds: Mapping[str, tuple[Use, ...]], frames: Frames, region: Region
) -> Iterable[Frames]:
    """Frames that the roots of a region may take together."""
    for seed in sorted(set(_seeds(refs, feeds, frames, region))):
        trial = {root: compose(step, seed) for root, step in region.items()}
        if all(_allowed(refs, root, frame) for root, frame in trial.items()):
            yield trial


def _allowed(refs: Refs, root: str, frame: Perm) -> bool:
    return refs.freedom[root] is not Freedom.LAST or frame[-1] == len(frame) - 1


def _seeds(
    refs: Refs, feeds: Mapping[str, tuple[Use, ...]], frames: Frames, region: Region
) -> Iterable[Perm]:
    """Seed frames that make a reading across the region's border free, and the identity."""
    for root, step in region.items():
        back = inverse(step)
        yield back
        for use in refs.uses[root]:
            if not use.is_output and use.reader not in region:
                wanted = use.needs(frames).order
                rank = len(refs.shapes[root])
                yield compose(back, place(_position(wanted, axis) for axis in range(rank)))
        for use in feeds[root]:
            if use.ref.root not in region:
                available = refs.order(use.ref.root, frames[use.ref.root])
                keys = (
                    _position(available, group[0]) if group else None for group in use.ref.groups
                )
                yield compose(back, place(keys))


def _position(order: tuple[int, ...], axis: int) -> int | None:
    return order.index(axis) if axis in order else None
