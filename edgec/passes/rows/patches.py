"""Patches: neighbours in vertical strips that run in turns one by one, where rows are too much.

A strip has the rows of a window of each tensor, as wide as the strip and its margins, and what the
neighbours give lies whole beside it.  The margins are computed again by the next strip: more and
narrower strips take less memory and more time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from edgec.ir.graph import Graph, Node
from edgec.ir.infer import macs
from edgec.ir.rows import ROWS
from edgec.passes.rows.groups import groups_at
from edgec.passes.rows.partition import LONGEST, Lives, Patches, Section
from edgec.passes.rows.price import CALL_CYCLES, ChainPrice, Needs
from edgec.passes.rows.reads import reads_by_name
from edgec.passes.rows.strips import Strips, strip_chains, strips_of
from edgec.passes.rows.timeline import Pace

COUNTS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20)
"""Numbers of strips to try."""
_PACES = (Pace(1), Pace(2), Pace(2, shrinks=True))
_ENOUGH = 3
"""Numbers of strips that fit: with more of them a chain takes more time."""
_MAC_CYCLES = 1.0
"""Cycles of a multiply-accumulate on cores that nobody has measured."""


class PatchSearch:
    """Neighbours in patches that could serve.

    Args:
        graph: INTEGER stage, straight.
        needs: what a node takes.
        whole_cycles: what nodes take as a whole, by name.
        fixed: names of nodes that stay as they are.
        handed: an input that the caller hands over by rows.
    """

    def __init__(
        self,
        graph: Graph,
        needs: Needs,
        whole_cycles: Mapping[str, float],
        fixed: frozenset[str],
        handed: str | None,
    ) -> None:
        self._graph, self._whole_cycles = graph, whole_cycles
        self._needs, self._handed = needs, handed
        self._lives = Lives(graph, handed)
        self._reads = reads_by_name(graph, (n for n in graph.nodes if n.name not in fixed))

    def sections(self, most_bytes: int, passes: int, low: Set[int]) -> Iterator[Section]:
        """Neighbours in patches that keep a limit.

        Args:
            most_bytes: the most bytes that may live while they run.
            passes: times that the caller can hand the input over: once for each strip.
            low: numbers of nodes that keep it without patches: those among them alone are left out.
        """
        nodes = self._graph.nodes
        high = [number for number in range(len(nodes)) if number not in low]
        for first, node in enumerate(nodes):
            if node.name not in self._reads:
                continue
            for end in range(first + 2, min(first + LONGEST, len(nodes)) + 1):
                if nodes[end - 1].name not in self._reads:
                    break
                if high and not any(first <= number < end for number in high):
                    continue
                if self._could(first, end, most_bytes):
                    yield from self._counts(first, end, most_bytes, passes)

    def groups(self) -> Iterator[Section]:
        """Convolutions with pools of whole images in groups of channels."""
        for first, conv in enumerate(self._graph.nodes[:-1]):
            if conv.name not in self._reads or conv.first == self._handed:
                continue
            for strips in groups_at(self._graph, first):
                yield self._group_section(conv, strips)

    def _group_section(self, conv: Node, strips: Strips) -> Section:
        cut, around = strips.within(self._graph), self._lives.around(strips.first, strips.end)
        group, *_ = strips.strips
        node, _ = group.nodes
        reads = reads_by_name(cut, group.nodes)[node.name]
        need = self._needs(cut, node, reads)(cut.shape(node.output)[ROWS])
        values = (*around.read, node.output, strips.join.output)
        size_bytes = sum(cut.values[name].size_bytes for name in values) + need.scratch_bytes
        count, whole = len(strips.strips), self._whole_cycles.get(conv.name)
        cost = 2 * CALL_CYCLES * count
        if need.cycles is not None and whole is not None:
            cost += count * need.cycles - whole
        bytes_, patches = around.beside_bytes + size_bytes, Patches(strips, ())
        return Section(strips.first, strips.end, bytes_, cost, patches=patches)

    def _could(self, first: int, end: int, most_bytes: int) -> bool:
        """Whether what lies whole leaves room, and the last node alone has readers."""
        around = self._lives.around(first, end)
        output = self._graph.nodes[end - 1].output
        if around.kept != {output}:
            return False
        if first == 0 and self._handed is not None and self._lives.last(self._handed) >= end:
            return False
        whole = sum(self._graph.values[name].size_bytes for name in (*around.read, output))
        return around.beside_bytes + whole < most_bytes

    def _counts(self, first: int, end: int, most_bytes: int, passes: int) -> Iterator[Section]:
        fitting = 0
        for count in COUNTS:
            handed = self._handed if first == 0 else None
            if handed is not None and count > passes:
                break
            strips = strips_of(self._graph, first, end, self._reads, count)
            if strips is None:
                continue
            found = list(self._sections(strips, handed, most_bytes))
            fitting += bool(found)
            yield from found
            if fitting == _ENOUGH:
                break

    def _sections(self, strips: Strips, handed: str | None, most_bytes: int) -> Iterator[Section]:
        """Strips at each pace at which they keep a limit."""
        cut, around = strips.within(self._graph), self._lives.around(strips.first, strips.end)
        nodes = self._graph.nodes[strips.first : strips.end]
        own = [node for strip in strips.strips for node in strip.nodes]
        reads = reads_by_name(cut, own)
        price = ChainPrice(cut, reads, self._needs, {node.name: 0.0 for node in own})
        before = sum(self._whole_cycles.get(node.name, 0.0) for node in nodes)
        if not self._whole_cycles:
            more = sum(macs(cut, node) for node in own) - sum(macs(self._graph, n) for n in nodes)
            before -= more * _MAC_CYCLES
        for pace in _PACES:
            chains, size_bytes, cost = [], 0, -before
            for chain in strip_chains(cut, strips, reads, pace, handed):
                ways = () if chain is None else price.ways(chain, around.read, frozenset())
                fitting = (way for way in ways if around.beside_bytes + way[0] <= most_bytes)
                found = next(fitting, None)
                if chain is None or found is None:
                    break
                chains.append(chain)
                size_bytes = max(size_bytes, around.beside_bytes + found[0])
                cost += found[1]
            if len(chains) == len(strips.strips):
                patches = Patches(strips, tuple(chains))
                yield Section(strips.first, strips.end, size_bytes, cost, patches=patches)
