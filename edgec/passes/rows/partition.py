"""Partition into chains: layers that run in turns together, and their rows of a time.

Chains are neighbours in the order of the graph.  Bytes of a chain are those of the tensors that
stay whole, of the buffers of its rows, and of all else that lives meanwhile; its price is what
running in turns costs: bytes that slide, rows that windows read again, and calls.  The least peak
is a shortest path over the order of the nodes in the sense of the largest step; among the chains
that keep below it, or below a limit, the cheapest ones are a shortest path in the usual sense.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from edgec.ir.graph import Graph, Node
from edgec.passes.rows.reads import Read, row_bytes, row_reads
from edgec.passes.rows.timeline import Pace, Timeline, timeline

PACES = (Pace(1), *(Pace(rows, shrinks) for rows in (2, 4, 8) for shrinks in (False, True)))
_LONGEST = 48
"""Nodes of a chain at most."""
IMPOSSIBLE = 1 << 62
"""More bytes than there are."""
_CALL_CYCLES = 150.0
_BYTE_CYCLES = 0.75
"""Cycles of a byte that slides, or that is read again: a load and a store of a word take three."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a node takes that computes some rows at a time.

    Attributes:
        scratch_bytes: its working memory.
        cycles: of one time, estimated; None: nobody knows.
    """

    scratch_bytes: int
    cycles: float | None = None


Needs = Callable[[Node, tuple[Read, ...], int], Need]
"""What a node takes that reads some operands by rows and computes so many rows at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """Neighbours in the order of the graph: one node as it is, or a chain.

    Attributes:
        first, end: numbers of its nodes, half-open.
        size_bytes: bytes that live while it runs.
        cost: cycles that running in turns takes beyond those of whole layers, estimated.
        chain: its times; None: a node as it is.
    """

    first: int
    end: int
    size_bytes: int
    cost: float
    chain: Timeline | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Sections:
    """Everything that a graph could be cut into.

    Attributes:
        graph: INTEGER stage, straight.
        all: by their end.
    """

    graph: Graph
    all: tuple[Section, ...]

    @classmethod
    def of(
        cls,
        graph: Graph,
        chains: Iterable[Section],
        whole_bytes: Mapping[str, int],
        handed: str | None = None,
    ) -> Sections:
        """Chains, and nodes as they are.

        Args:
            graph: INTEGER stage, straight.
            chains: from `chains_of`.
            whole_bytes: bytes that live while a node runs by itself, by its name; 0 of views.
            handed: see `chains_of`; the first node is in a chain then.
        """
        alone = [
            Section(number, number + 1, whole_bytes.get(node.name, 0), 0.0)
            for number, node in enumerate(graph.nodes)
            if number or handed is None
        ]
        found = sorted((*alone, *chains), key=lambda each: (each.end, each.cost))
        return cls(graph, tuple(found))

    @property
    def least_bytes(self) -> int:
        """The least peak of all ways to cut the graph; `IMPOSSIBLE` or more: there is none."""
        count = len(self.graph.nodes)
        best = [0, *[IMPOSSIBLE] * count]
        for each in self.all:
            best[each.end] = min(best[each.end], max(best[each.first], each.size_bytes))
        return best[count]

    def grown(self, section: Section, size_bytes: int) -> Sections:
        """These with a section that turned out to take more bytes."""
        more = replace(section, size_bytes=size_bytes)
        return replace(self, all=tuple(more if s is section else s for s in self.all))

    def cheapest(self, limit_bytes: int) -> tuple[Section, ...]:
        """The chains of the cheapest way whose sections all stay within a limit.

        Args:
            limit_bytes: at least `least_bytes`.
        """
        count = len(self.graph.nodes)
        best = [0.0, *[math.inf] * count]
        last: list[Section | None] = [None] * (count + 1)
        for each in self.all:
            cost = best[each.first] + each.cost
            if each.size_bytes <= limit_bytes and cost < best[each.end]:
                best[each.end], last[each.end] = cost, each
        found: list[Section] = []
        end = count
        while (section := last[end]) is not None:
            if section.chain is not None:
                found.append(section)
            end = section.first
        return tuple(reversed(found))


def chains_of(
    graph: Graph,
    most_bytes: int,
    needs: Needs,
    fixed: frozenset[str] = frozenset(),
    handed: str | None = None,
    paces: Sequence[Pace] = PACES,
    whole_cycles: Mapping[str, float] = MappingProxyType({}),
) -> tuple[Section, ...]:
    """All chains of a graph that could serve.

    Args:
        graph: INTEGER stage, straight.
        most_bytes: those that take as many or more are left out.
        needs: what a node takes.
        fixed: names of nodes that stay as they are.
        handed: an input that the caller hands over by rows: all that reads it is in one chain.
        paces: rows of a time to try.
        whole_cycles: what nodes take as a whole, by name.
    """
    cutter = _Cutter(graph, most_bytes, needs, fixed, handed, paces, whole_cycles)
    return tuple(cutter.chains())


class _Cutter:
    """Finds chains."""

    def __init__(
        self,
        graph: Graph,
        most_bytes: int,
        needs: Needs,
        fixed: frozenset[str],
        handed: str | None,
        paces: Sequence[Pace],
        whole_cycles: Mapping[str, float],
    ) -> None:
        self._paces_tried = paces
        self._graph, self._most, self._needs = graph, most_bytes, needs
        self._handed, self._whole_cycles = handed, whole_cycles
        self._known: dict[tuple[str, int], Need] = {}
        self._nodes = graph.nodes
        self._reads: dict[str, tuple[Read, ...]] = {}
        for node in graph.nodes:
            found = row_reads(graph, node)
            if found is not None and node.name not in fixed:
                self._reads[node.name] = found
        self._born = dict.fromkeys(graph.inputs, -1)
        self._last: dict[str, int] = {}
        for number, node in enumerate(graph.nodes):
            self._born.update(dict.fromkeys(node.outputs, number))
            self._last.update((name, number) for name in node.inputs if name in graph.values)
        self._last.update(dict.fromkeys(graph.outputs, len(graph.nodes)))

    def chains(self) -> Iterator[Section]:
        """All chains that could serve."""
        for first in range(len(self._nodes)):
            # A chain of one layer serves where the rows of its operand are handed over.
            least = 1 if first == 0 and self._handed is not None else 2
            for end in range(first + least, min(first + _LONGEST, len(self._nodes)) + 1):
                if self._nodes[end - 1].name not in self._reads:
                    break
                if self._nodes[first].name in self._reads:
                    yield from self._paces(first, end)

    def _paces(self, first: int, end: int) -> Iterator[Section]:
        """A chain at each pace; those that are neither smaller nor cheaper than another are not."""
        nodes = self._nodes[first:end]
        handed = self._handed if first == 0 else None
        if handed is not None and self._last.get(handed, -1) >= end:
            return  # somebody else reads it, too
        kept = frozenset(n.output for n in nodes if self._last.get(n.output, -1) >= end)
        if len(kept) == len(nodes) and handed is None:
            return
        read = {name for n in nodes for name in n.inputs if self._born.get(name, first) < first}
        read.discard(handed or "")
        beside = sum(
            self._graph.values[name].size_bytes
            for name, born in self._born.items()
            if born < first and self._last.get(name, -1) >= end and name not in read
            if name != self._handed
        )
        found: list[Section] = []
        for pace in self._paces_tried:
            chain = timeline(self._graph, nodes, self._reads, kept, pace, handed)
            if chain is None:
                continue
            dying = frozenset(name for name in read if self._last[name] < end)
            size_bytes = beside + self._bytes(chain, read, dying)
            if size_bytes < self._most:
                found.append(Section(first, end, size_bytes, self._cost(chain), chain))
        found.sort(key=lambda each: (each.size_bytes, each.cost))
        least = math.inf
        for each in found:
            if each.cost < least:
                least = each.cost
                yield each

    def _bytes(self, chain: Timeline, read: set[str], dying: frozenset[str]) -> int:
        """Bytes of the tensors and buffers of a chain."""
        graph = self._graph
        whole = {name: self._whole_bytes(chain, name) for name in (*read, *chain.kept)}
        saved = max(
            (
                whole[output]
                + whole[source]
                - max(whole[source], gap + whole[source], whole[output])
                for output in chain.kept
                for source in dying & chain_reads(chain)
                if (gap := _gap(graph, chain, output, source)) < whole[output]
            ),
            default=0,
        )
        rows = {name: row_bytes(graph, name) for name in chain.depths}
        lasting, passing = 0, {}
        handed = "" if chain.handed is None else chain.handed.name
        for name, firing in chain.written().items():
            depth = chain.depths.get(name)
            if depth is not None and (depth > firing.rows or name == handed):
                lasting += depth * rows[name]
            elif depth is not None:
                passing[name] = firing.rows * rows[name]
        step = max(
            self._need(node, chain.firings[node.name].rows).scratch_bytes
            + sum(passing.get(name, 0) for name in {*node.inputs, *node.outputs})
            for node in chain.nodes
        )
        return sum(whole.values()) - saved + lasting + step

    def _need(self, node: Node, rows: int) -> Need:
        key = node.name, rows
        if key not in self._known:
            self._known[key] = self._needs(node, self._reads[node.name], rows)
        return self._known[key]

    def _whole_bytes(self, chain: Timeline, name: str) -> int:
        top, bottom = chain.margins.get(name, (0, 0))
        value = self._graph.values[name]
        if not top and not bottom:
            return value.size_bytes
        return value.size_bytes + (top + bottom) * row_bytes(self._graph, name)

    def _cost(self, chain: Timeline) -> float:
        """Cycles that running in turns takes beyond those of whole layers."""
        graph = self._graph
        cost = chain.slid_bytes(graph) * _BYTE_CYCLES
        for node in chain.nodes:
            firing = chain.firings[node.name]
            once, whole = self._need(node, firing.rows).cycles, self._whole_cycles.get(node.name)
            if once is not None and whole is not None:
                cost += once * firing.count - whole
                continue
            cost += _CALL_CYCLES * firing.count
            for read in self._reads[node.name]:
                again = read.window.height(firing.rows) - read.window.advance(firing.rows)
                each = firing.count * row_bytes(graph, read.name) * _BYTE_CYCLES
                cost += max(again, 0) * each
        return cost


def chain_reads(chain: Timeline) -> frozenset[str]:
    """Whole tensors that a chain reads by rows."""
    return frozenset(part.read.name for part in chain.slices if part.read.name not in chain.depths)


def _gap(graph: Graph, chain: Timeline, output: str, source: str) -> int:
    """About the least distance from an output to an input that it takes the place of."""
    writer = next(node for node in chain.nodes if node.output == output)
    made, each = chain.firings[writer.name], row_bytes(graph, output)
    parts = [part for part in chain.slices if part.read.name == source]
    read_each, top = row_bytes(graph, source), chain.margins.get(source, (0, 0))[0]
    times = np.arange(made.count)
    turns, ends = made.phase + made.period * times, (times + 1) * made.rows * each
    found = 0
    for part in parts:
        firing = chain.firings[part.node]
        later = np.maximum(-(-(turns - firing.phase) // firing.period), 0)
        gaps = (ends - (top + part.start + part.step * later) * read_each)[later < firing.count]
        found = max(found, int(gaps.max(initial=0)))
    return found
