"""Patches: neighbours in vertical strips that run in turns one by one, where rows are too much.

A strip has the rows of a window of each tensor, as wide as the strip and its margins, and what the
neighbours give lies whole beside it.  The margins are computed again by the next strip: more and
narrower strips take less memory and more time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from edgec.ir.graph import Graph, Node
from edgec.ir.infer import macs
from edgec.ir.rows import ROWS
from edgec.passes.rows.groups import groups_at
from edgec.passes.rows.partition import Lives, Patches, Section
from edgec.passes.rows.price import ChainPrice, Need, Needs
from edgec.passes.rows.reads import Read, row_reads
from edgec.passes.rows.strips import Strips, strip_chains, strips_of
from edgec.passes.rows.timeline import Pace

COUNTS = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20)
"""Numbers of strips to try."""
_PACES = (Pace(1), Pace(2), Pace(2, shrinks=True))
_LONGEST = 48
"""Nodes of a strip at most, without copies."""
_ENOUGH = 3
"""Numbers of strips that fit: with more of them a chain takes more time."""
_CALL_CYCLES = 150.0
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
        self._known: dict[object, Need] = {}
        self._lives = Lives(graph, handed)
        self._reads: dict[str, tuple[Read, ...]] = {}
        for node in graph.nodes:
            found = row_reads(graph, node)
            if found is not None and node.name not in fixed:
                self._reads[node.name] = found

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
            for end in range(first + 2, min(first + _LONGEST, len(nodes)) + 1):
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
        reads = row_reads(cut, node) or ()
        need = self._need(cut, node, reads, cut.shape(node.output)[ROWS])
        values = (*around.read, node.output, strips.join.output)
        size_bytes = sum(cut.values[name].size_bytes for name in values) + need.scratch_bytes
        count, whole = len(strips.strips), self._whole_cycles.get(conv.name)
        cost = 2 * _CALL_CYCLES * count
        if need.cycles is not None and whole is not None:
            cost += count * need.cycles - whole
        patches = Patches(strips, (), 0)
        return Section(
            strips.first, strips.end, around.beside_bytes + size_bytes, cost, patches=patches
        )

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
            found = [
                section
                for pace in _PACES
                if (section := self._section(strips, pace, handed)) is not None
                and section.size_bytes <= most_bytes
            ]
            fitting += bool(found)
            yield from found
            if fitting == _ENOUGH:
                break

    def _section(self, strips: Strips, pace: Pace, handed: str | None) -> Section | None:
        cut = strips.within(self._graph)
        chains = strip_chains(cut, strips, pace, handed)
        if chains is None:
            return None
        nodes = self._graph.nodes[strips.first : strips.end]
        own = [node for strip in strips.strips for node in strip.nodes]
        reads = {node.name: row_reads(cut, node) or () for node in own}
        price = ChainPrice(cut, reads, self._need, {node.name: 0.0 for node in own})
        around = self._lives.around(strips.first, strips.end)
        size_bytes = max(price.size_bytes(chain, around.read, frozenset()) for chain in chains)
        before = [self._whole_cycles.get(node.name) for node in nodes]
        more = sum(macs(cut, node) for node in own) - sum(macs(self._graph, n) for n in nodes)
        cost = sum(price.cost(chain) for chain in chains) - sum(each or 0.0 for each in before)
        if not self._whole_cycles:
            cost += more * _MAC_CYCLES
        patches = Patches(strips, chains, more)
        bytes_ = around.beside_bytes + size_bytes
        return Section(strips.first, strips.end, bytes_, cost, patches=patches)

    def _need(self, graph: Graph, node: Node, reads: Sequence[Read], rows: int) -> Need:
        """Need of a node of a strip, found once for all strips of one shape."""
        shapes = tuple(graph.shape(name) for name in (*node.inputs, node.output))
        constants = tuple(name for name in node.inputs if graph.is_constant(name))
        key = node.attrs, constants, shapes, rows
        if key not in self._known:
            self._known[key] = self._needs(graph, node, tuple(reads), rows)
        return self._known[key]
