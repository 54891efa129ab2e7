"""Ways to let layers run in turns of a few rows, and in patches: the search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from edgec.base.options import Rows
from edgec.ir import qops
from edgec.ir.graph import Graph
from edgec.kernels.select import KernelChoice, select_kernels
from edgec.passes.rows.partition import IMPOSSIBLE, Patches, Section, Sections, chains_of
from edgec.passes.rows.patches import PatchSearch
from edgec.passes.rows.row_graph import in_turns
from edgec.passes.rows.strips import with_strips
from edgec.passes.rows.timeline import Timeline
from edgec.report.model import RowsPoint
from edgec.target.target import Target
from edgec.workflow.row_kernels import (
    NodeNeeds,
    arena_of,
    cycles_by_name,
    cycles_of,
    estimator_of,
    peak_of,
    times_of,
    with_less_scratch,
)

_LIMITS = (1.0, 1.015, 1.03, 1.045, 1.06, 1.08, 1.1, 1.15, 1.2, 1.3, 1.5, 2.0)
"""Limits of the peak that chains are asked for, as multiples of the least one: scratch memory and
places are known only when kernels are chosen."""
_RETRIES = 4
"""Times that chains are chosen again for a limit that they turned out to pass."""
_FASTER = 0.998
"""A larger arena is worth at least the five hundredth part of the time."""
_NEARER = (1.0, 1.15, 1.3, 1.5, 1.75, 2.0)
"""Limits that patches are looked for, as multiples of one that nothing keeps."""
_PATCH_TRIES = 12
"""Times that patches are chosen again: their sizes are less well known."""


@dataclass(frozen=True, slots=True, eq=False)
class RowsChoice:
    """A graph with its layers in turns, or as it was.

    Attributes:
        graph: INTEGER stage.
        choices: its kernels.
        arena_bytes: bytes of the arena before copies of weights.
        cycles: estimate for a run; None where nobody has measured the core.
        cost: price of running in turns (`passes.rows.partition`).
        patches: the most strips that layers are computed in, one by one; 1: none are.
    """

    graph: Graph
    choices: tuple[KernelChoice, ...]
    arena_bytes: int
    cycles: float | None
    cost: float = 0.0
    patches: int = 1

    @property
    def point(self) -> RowsPoint:
        """Figures of the choice for a report."""
        chains = self.graph.chains
        rows = {firing.rows for chain in chains for firing in chain.firings.values()} or {0}
        cycles = None if self.cycles is None else round(self.cycles)
        times = times_of(self.graph)
        macs = sum(each.spec.macs * times.get(each.node.name, 1) for each in self.choices)
        groups = Counter(whole for whole, _ in self.graph.channels.values())
        return RowsPoint(
            self.arena_bytes,
            cycles,
            self._layers,
            len(chains),
            (min(rows), max(rows)),
            macs,
            self.patches,
            max(groups.values(), default=1),
        )

    @property
    def _layers(self) -> int:
        """Layers of the network that run in turns."""
        copies = {n.name for n in self.graph.nodes if isinstance(n.attrs, qops.COLUMN_COPIES)}
        return len(
            {
                output
                for chain in self.graph.chains
                for name, output in chain.outputs.items()
                if name not in copies
            }
        )

    def spare_bytes(self, rows: Rows, limit_bytes: int | None) -> int | None:
        """Bytes by which copies of weights may let the arena grow; None: as much as is usual.

        Args:
            rows: what the user asked for: the smallest arena, or one that fits.
            limit_bytes: bytes that the arena may have; None: any number.
        """
        if not self.graph.chains and not self.graph.channels:
            return None
        if rows is Rows.ALWAYS or limit_bytes is None:
            return 0
        return max(limit_bytes - self.arena_bytes, 0)


class RowSearch:
    """Ways to cut a graph into chains.

    Args:
        whole: the graph as it is.
        target: the processor.
        decisions: nodes that planners decided for stay as they are.
        handed: an input that comes by rows.
    """

    def __init__(
        self,
        whole: RowsChoice,
        target: Target,
        decisions: Mapping[str, object],
        handed: str | None = None,
    ) -> None:
        self._graph, self._target, self._decisions = whole.graph, target, decisions
        self._handed, estimator = handed, estimator_of(target)
        needs = NodeNeeds(target, estimator)
        graph, choices = whole.graph, whole.choices
        self._whole_cycles = {} if estimator is None else cycles_by_name(graph, choices, estimator)
        peak, alone = peak_of(graph, choices), peak_of(graph, choices, overlapping=False)
        names = [choice.node.name for choice in choices]
        self._by_step = [
            dict(zip(names, steps, strict=False)) for steps in (peak.by_step, alone.by_step)
        ]
        self._chains = chains_of(
            graph,
            peak.arena_bytes,
            needs,
            frozenset(decisions),
            handed,
            whole_cycles=self._whole_cycles,
        )
        self._patches = PatchSearch(
            *(graph, needs, self._whole_cycles, frozenset(decisions), handed)
        )
        self._chains += tuple(self._patches.groups())

    def ways(self, limit_bytes: int | None = None) -> list[RowsChoice]:
        """The graph in turns at several limits.

        Args:
            limit_bytes: bytes that the arena may have, one of the limits; None: any number.
        """
        found: dict[tuple[Timeline | Patches | None, ...], tuple[RowsChoice, ...]] = {}
        for by_name in self._by_step:
            sections = Sections.of(self._graph, self._chains, by_name, self._handed)
            if sections.least_bytes >= IMPOSSIBLE:
                continue
            limits = [int(sections.least_bytes * factor) for factor in _LIMITS]
            for limit in (*limits, max(limit_bytes or 0, sections.least_bytes)):
                for _ in range(_RETRIES):
                    cut = sections.cheapest(limit)
                    key = tuple(each.chain or each.patches for each in cut)
                    if not cut:
                        break
                    if key not in found:
                        found[key] = self._kernels_of(cut)
                    ways = found[key]
                    if ways[-1].arena_bytes <= limit:
                        break
                    highest = _highest(cut, self._graph, ways[-1])
                    sections = sections.grown(highest, ways[-1].arena_bytes)
        return _planned_ways(each for ways in found.values() for each in ways)

    def patched(self, limit_bytes: int, passes: int) -> list[RowsChoice]:
        """The graph in turns, and in patches where those do not keep a limit.

        Where patches do not keep it either, ways that come near it, which say by how much.

        Args:
            limit_bytes: bytes that the arena may have.
            passes: how often the caller can hand the input over, where it comes by rows.
        """
        sections, limit_bytes = self._with_patches(limit_bytes, passes)
        if sections.least_bytes >= IMPOSSIBLE:
            return []
        found: list[RowsChoice] = []
        for _ in range(_PATCH_TRIES):
            cut = sections.cheapest(max(limit_bytes, sections.least_bytes))
            ways = self._kernels_of(cut)
            found += ways
            if ways[-1].arena_bytes <= limit_bytes or not cut:
                break
            highest = _highest(cut, self._graph, ways[-1])
            size_bytes = max(ways[-1].arena_bytes, highest.size_bytes + 1)
            sections = sections.grown(highest, size_bytes)
        return _planned_ways(found)

    def _with_patches(self, limit_bytes: int, passes: int) -> tuple[Sections, int]:
        """Patches that keep a limit, or one near it, beside all else, and that limit."""
        rows = sections = Sections.of(self._graph, self._chains, self._by_step[0], self._handed)
        near_bytes = limit_bytes
        for near_bytes in [int(limit_bytes * factor) for factor in _NEARER]:
            found = self._patches.sections(near_bytes, passes, rows.low(near_bytes))
            sections = rows.with_more(found)
            if sections.least_bytes <= near_bytes:
                break
        return sections, near_bytes

    def _kernels_of(self, cut: Sequence[Section]) -> tuple[RowsChoice, ...]:
        """Kernels of the graph with some chains in turns, with less and less scratch memory."""
        parts = [each.patches for each in cut if each.patches is not None]
        strips = [each.strips for each in parts]
        columns = {name: each for every in strips for name, each in every.columns.items()}
        chains = [chain for each in cut for chain in each.chains]
        made = in_turns(with_strips(self._graph, strips), chains, columns)
        kernels = select_kernels(made, self._target, self._decisions)
        cost = sum(each.cost for each in cut)
        patches = max((len(each.chains) for each in parts if each.chains), default=1)
        return tuple(
            RowsChoice(made, each, floor, cycles_of(made, each, self._target), cost, patches)
            for each, floor in with_less_scratch(made, kernels, self._target)
        )


def planned(graph: Graph, choices: tuple[KernelChoice, ...], target: Target) -> RowsChoice:
    """A graph as it is.

    Args:
        graph: INTEGER stage.
        choices: its kernels.
        target: the processor.
    """
    return RowsChoice(graph, choices, arena_of(graph, choices), cycles_of(graph, choices, target))


def front_of(found: Iterable[RowsChoice]) -> tuple[RowsChoice, ...]:
    """Choices that nothing smaller is as fast as, or nearly, the smallest first."""
    front: list[RowsChoice] = []
    for each in sorted(found, key=lambda each: (each.arena_bytes, _time(each))):
        least = _FASTER if each.graph.chains or each.graph.channels else 1
        if not front or _time(each) < least * _time(front[-1]):
            front.append(each)
    return tuple(front)


def _planned_ways(ways: Iterable[RowsChoice]) -> list[RowsChoice]:
    """Ways with the arena of their plan in place of its floor, where no faster one is as small.

    Plans take long, and mostly reach their floors, so that few have to be made.
    """
    found: list[RowsChoice] = []
    for each in sorted(ways, key=lambda each: (_time(each), each.arena_bytes)):
        if all(each.arena_bytes < faster.arena_bytes for faster in found):
            found.append(replace(each, arena_bytes=arena_of(each.graph, each.choices)))
    return found


def _highest(cut: Sequence[Section], graph: Graph, made: RowsChoice) -> Section:
    """The chain with the step that needs most, or the one for which that has rows of padding."""
    peak = peak_of(made.graph, made.choices)
    name = made.choices[peak.by_step.index(peak.arena_bytes)].node.name
    for each in cut:
        if each.patches is not None and name in each.patches.strips.nodes:
            return each
    number = next((n for n, node in enumerate(graph.nodes) if node.name == name), 0)
    return next((each for each in cut if number < each.end), cut[-1])


def _time(way: RowsChoice) -> float:
    """Cycles; without an estimate, those that turns are expected to take more."""
    return way.cost if way.cycles is None else way.cycles
