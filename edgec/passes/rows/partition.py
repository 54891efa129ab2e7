"""Partition into chains: layers that run in turns together, and their rows of a time.

Chains are neighbours in the order of the graph.  Bytes of a chain are those of the tensors that
stay whole, of the buffers of its rows, and of all else that lives meanwhile; its price is what
running in turns costs: bytes that slide, rows that windows read again, and calls.  The least peak
is a shortest path over the order of the nodes in the sense of the largest step; among the chains
that keep below it, or below a limit, the cheapest ones are a shortest path in the usual sense.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from edgec.ir.graph import Graph
from edgec.passes.rows.price import ChainPrice, Needs
from edgec.passes.rows.reads import reads_by_name
from edgec.passes.rows.strips import Strips
from edgec.passes.rows.timeline import Pace, Timeline
from edgec.passes.rows.times import timelines

PACES = (Pace(1), *(Pace(rows, shrinks) for rows in (2, 4, 8) for shrinks in (False, True)))
LONGEST = 48
"""Nodes of a chain, or of the network in a patch, at most."""
IMPOSSIBLE = 1 << 62
"""More bytes than there are."""


@dataclass(frozen=True, slots=True, eq=False)
class Patches:
    """Neighbours that are computed in vertical strips, or in groups of channels.

    Attributes:
        strips: their nodes.
        chains: times of each strip; none of groups of channels.
    """

    strips: Strips
    chains: tuple[Timeline, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """Neighbours in the order of the graph: one node as it is, or a chain.

    Attributes:
        first, end: numbers of its nodes, half-open.
        size_bytes: bytes that live while it runs.
        cost: cycles that running in turns takes beyond those of whole layers, estimated.
        chain: its times; None: a node as it is, or patches.
        patches: strips of its nodes that are computed one by one, each a chain; None: no such.
    """

    first: int
    end: int
    size_bytes: int
    cost: float
    chain: Timeline | None = None
    patches: Patches | None = None

    @property
    def chains(self) -> tuple[Timeline, ...]:
        """Its chains, in order."""
        if self.patches is not None:
            return self.patches.chains
        return () if self.chain is None else (self.chain,)


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
        """These with a chain, or patches, that turned out to take more bytes."""
        grown = tuple(
            replace(each, size_bytes=max(size_bytes, each.size_bytes))
            if each.chain is section.chain and each.patches is section.patches
            else each
            for each in self.all
        )
        return replace(self, all=grown)

    def low(self, limit_bytes: int) -> frozenset[int]:
        """Numbers of the nodes that some section within a limit holds."""
        found: set[int] = set()
        for each in self.all:
            if each.size_bytes <= limit_bytes:
                found.update(range(each.first, each.end))
        return frozenset(found)

    def with_more(self, sections: Iterable[Section]) -> Sections:
        """These with others."""
        found = sorted((*self.all, *sections), key=lambda each: (each.end, each.cost))
        return replace(self, all=tuple(found))

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
            if section.chains or section.patches is not None:
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


@dataclass(frozen=True, slots=True)
class Around:
    """Tensors around some neighbours.

    Attributes:
        read: whole tensors that they read.
        dying: those of them that nobody reads later.
        kept: outputs of theirs that others read, or outputs of the graph.
        beside_bytes: bytes of tensors that live meanwhile, and that they do not read.
    """

    read: frozenset[str]
    dying: frozenset[str]
    kept: frozenset[str]
    beside_bytes: int


class Lives:
    """When the values of a graph are made and read.

    Args:
        graph: INTEGER stage, straight.
        handed: an input that the caller hands over by rows: it is never there as a whole.
    """

    def __init__(self, graph: Graph, handed: str | None) -> None:
        self._graph, self._handed = graph, handed
        self._born = dict.fromkeys(graph.inputs, -1)
        self._last: dict[str, int] = {}
        for number, node in enumerate(graph.nodes):
            self._born.update(dict.fromkeys(node.outputs, number))
            self._last.update((name, number) for name in node.inputs if name in graph.values)
        self._last.update(dict.fromkeys(graph.outputs, len(graph.nodes)))

    def last(self, name: str) -> int:
        """Number of the last node that reads a value; of an output one more than there are."""
        return self._last.get(name, -1)

    def around(self, first: int, end: int) -> Around:
        """The tensors around the nodes [first, end)."""
        nodes = self._graph.nodes[first:end]
        names = (name for node in nodes for name in node.inputs if name != self._handed)
        read = frozenset(name for name in names if self._born.get(name, first) < first)
        return Around(
            read,
            frozenset(name for name in read if self._last[name] < end),
            frozenset(node.output for node in nodes if self.last(node.output) >= end),
            sum(
                self._graph.values[name].size_bytes
                for name, born in self._born.items()
                if born < first and self.last(name) >= end
                if name not in read and name != self._handed
            ),
        )


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
        self._graph, self._most, self._handed = graph, most_bytes, handed
        self._nodes = graph.nodes
        self._reads = reads_by_name(graph, (n for n in graph.nodes if n.name not in fixed))
        self._price = ChainPrice(graph, self._reads, needs, whole_cycles)
        self._lives = Lives(graph, handed)

    def chains(self) -> Iterator[Section]:
        """All chains that could serve."""
        for first in range(len(self._nodes)):
            # A chain of one layer serves where the rows of its operand are handed over.
            least = 1 if first == 0 and self._handed is not None else 2
            for end in range(first + least, min(first + LONGEST, len(self._nodes)) + 1):
                if self._nodes[end - 1].name not in self._reads:
                    break
                if self._nodes[first].name in self._reads:
                    yield from self._paces(first, end)

    def _paces(self, first: int, end: int) -> Iterator[Section]:
        """A chain at each pace; those that are neither smaller nor cheaper than another are not."""
        nodes = self._nodes[first:end]
        handed = self._handed if first == 0 else None
        if handed is not None and self._lives.last(handed) >= end:
            return  # somebody else reads it, too
        around = self._lives.around(first, end)
        if len(around.kept) == len(nodes) and handed is None:
            return
        found: list[Section] = []
        paces = self._paces_tried
        for chain in timelines(self._graph, nodes, self._reads, around.kept, paces, handed):
            for own, cost in self._price.ways(chain, around.read, around.dying):
                size_bytes = around.beside_bytes + own
                if size_bytes < self._most:
                    found.append(Section(first, end, size_bytes, cost, chain))
        found.sort(key=lambda each: (each.size_bytes, each.cost))
        least = math.inf
        for each in found:
            if each.cost < least:
                least = each.cost
                yield each
