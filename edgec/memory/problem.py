"""The planning problem in the planner's own terms: whole alignment units and pairwise gaps.

Buffers that are never live together do not constrain each other.  For two that are, i and j, a
placement is legal when i is *below* j by at least ``gap(i, j)`` or j below i by at least
``gap(j, i)``.  The gap is the lower buffer's size (disjoint), or less where an `Overlap` allows it:
one number for a pair and direction says it all, and the search needs no other knowledge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edgec.base.errors import InternalError
from edgec.memory.plan import Buffer, Overlap


@dataclass(frozen=True, slots=True)
class Problem:
    """Buffers by index, sizes and gaps in alignment units.

    Attributes:
        sizes: size of each buffer, rounded up.
        rivals: for each buffer i, ``(j, gap(i, j), gap(j, i))`` of every j it must respect.
        first_steps, end_steps: lifetimes, half-open.
    """

    sizes: tuple[int, ...]
    rivals: tuple[tuple[tuple[int, int, int], ...], ...]
    first_steps: tuple[int, ...]
    end_steps: tuple[int, ...]

    def mirrored(self) -> Problem:
        """This problem with addresses counted downwards, from the top of the arena.

        With ``p = -(offset + size)`` the order along the line is reversed, hence
        ``gap'(i, j) = gap(j, i) + size(i) - size(j)``.
        """
        sizes = self.sizes
        rivals = tuple(
            tuple(
                (j, above + sizes[i] - sizes[j], below + sizes[j] - sizes[i])
                for j, below, above in row
            )
            for i, row in enumerate(self.rivals)
        )
        return Problem(sizes, rivals, self.first_steps, self.end_steps)


def legal_distances(
    buffers: Sequence[Buffer], overlaps: Sequence[Overlap]
) -> dict[tuple[int, int], int]:
    """Distance in bytes by (index of output, index of input), of the overlaps that have an effect.

    Raises:
        InternalError: two buffers share a name, or an overlap names a buffer that does not exist.
    """
    index = {buffer.name: i for i, buffer in enumerate(buffers)}
    if len(index) != len(buffers):
        raise InternalError("two buffers of one name")
    found: dict[tuple[int, int], int] = {}
    for overlap in overlaps:
        if overlap.output not in index or overlap.input not in index:
            raise InternalError("overlap of unknown buffers", where=repr(overlap)[:200])
        pair = (index[overlap.output], index[overlap.input])
        output, source = buffers[pair[0]], buffers[pair[1]]
        if pair[0] != pair[1] and source.end_step == output.first_step + overlap.steps:
            found[pair] = max(overlap.distance_bytes, found.get(pair, 0))
    return found


def make_problem(buffers: Sequence[Buffer], overlaps: Sequence[Overlap], alignment: int) -> Problem:
    """The problem of placing `buffers` at multiples of `alignment` bytes.

    Raises:
        InternalError: see `legal_distances`.
    """
    sizes = [-(-buffer.size_bytes // alignment) for buffer in buffers]
    distances = {
        pair: -(-distance // alignment)
        for pair, distance in legal_distances(buffers, overlaps).items()
    }

    rivals: list[list[tuple[int, int, int]]] = [[] for _ in buffers]
    for i, j in _live_together(buffers):
        below, above = sizes[i], sizes[j]
        if distances:
            below = min(below, distances.get((i, j), below))
            above = min(above, distances.get((j, i), above))
        rivals[i].append((j, below, above))
        rivals[j].append((i, above, below))
    return Problem(
        tuple(sizes),
        tuple(tuple(row) for row in rivals),
        tuple(buffer.first_step for buffer in buffers),
        tuple(buffer.end_step for buffer in buffers),
    )


def _live_together(buffers: Sequence[Buffer]) -> list[tuple[int, int]]:
    """Index pairs of non-empty buffers whose lifetimes share a step."""
    order = sorted(
        (i for i, buffer in enumerate(buffers) if buffer.size_bytes),
        key=lambda i: buffers[i].first_step,
    )
    live: list[int] = []
    pairs: list[tuple[int, int]] = []
    for i in order:
        live = [j for j in live if buffers[j].end_step > buffers[i].first_step]
        pairs.extend((j, i) for j in live)
        live.append(i)
    return pairs
