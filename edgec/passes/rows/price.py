"""Bytes and cycles of a chain of layers that run in turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass

import numpy as np

from edgec.ir.graph import Graph, Node
from edgec.passes.rows.reads import Read, row_bytes
from edgec.passes.rows.timeline import Timeline

CALL_CYCLES = 150.0
"""Cycles of a call beside those that a price counts."""
BYTE_CYCLES = 0.75
"""Cycles of a byte that slides, or that is read again: a load and a store of a word take three."""


def _nothing() -> None:
    """No other need."""


@dataclass(frozen=True, slots=True)
class Need:
    """Memory and time of a node that computes some rows at a time.

    Attributes:
        scratch_bytes: its working memory.
        cycles: estimated time of one call; None: nobody has measured the core.
        smaller: finds that of the fastest kernel with less working memory; gives None: there is
            none that takes little longer.
    """

    scratch_bytes: int
    cycles: float | None = None
    smaller: Callable[[], Need | None] = _nothing


Needs = Callable[[Graph, Node, tuple[Read, ...]], Callable[[int], Need]]
"""Need of a node of a graph that reads some operands by rows, by the rows that it computes at a
time."""


class ChainPrice:
    """Prices of the chains of a graph.

    Args:
        graph: INTEGER stage, straight.
        reads: what its nodes read by rows, by name of the node.
        needs: what a node takes.
        whole_cycles: what nodes take as a whole, by name.
    """

    def __init__(
        self,
        graph: Graph,
        reads: Mapping[str, tuple[Read, ...]],
        needs: Needs,
        whole_cycles: Mapping[str, float],
    ) -> None:
        self._graph, self._reads = graph, reads
        self._needs, self._whole_cycles = needs, whole_cycles
        self._by_name: dict[str, Callable[[int], Need]] = {}

    def ways(self, chain: Timeline, read: Set[str], dying: Set[str]) -> Iterator[tuple[int, float]]:
        """Bytes and cost of a chain with its fastest kernels, then with less working memory.

        Args:
            chain: its times.
            read: whole tensors that it reads.
            dying: those of them that nobody reads later.

        Yields:
            Bytes of its tensors, buffers and working memory, and the cycles that running in turns
            takes beyond those of whole layers; no more bytes and no fewer cycles each time.
        """
        lasting, beside = self._bytes(chain, read, dying)
        firings = [chain.firings[node.name] for node in chain.nodes]
        pairs = zip(chain.nodes, firings, strict=True)
        needs = [self._need(node, firing.rows) for node, firing in pairs]
        sizes = [size + need.scratch_bytes for size, need in zip(beside, needs, strict=True)]
        cost = self.cost(chain)
        while True:
            high = max(range(len(sizes)), key=sizes.__getitem__)
            yield lasting + sizes[high], cost
            own, less = needs[high], needs[high].smaller()
            if less is None:
                return
            needs[high] = less
            sizes[high] += less.scratch_bytes - own.scratch_bytes
            # Of kernels that are about as fast the choice may prefer another than estimates do.
            slower = max((less.cycles or 0.0) - (own.cycles or 0.0), 0.0)
            cost += slower * firings[high].count

    def _bytes(self, chain: Timeline, read: Set[str], dying: Set[str]) -> tuple[int, list[int]]:
        """Bytes that live in all turns of a chain, and those beside them while each node runs."""
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
            lasts = name == handed or name in chain.waiting
            if depth is not None and (depth > firing.rows or lasts):
                lasting += depth * rows[name]
            elif depth is not None:
                passing[name] = firing.rows * rows[name]
        beside = [
            sum(passing.get(name, 0) for name in {*node.inputs, *node.outputs})
            for node in chain.nodes
        ]
        return sum(whole.values()) - saved + lasting, beside

    def _need(self, node: Node, rows: int) -> Need:
        found = self._by_name.get(node.name)
        if found is None:
            found = self._needs(self._graph, node, self._reads[node.name])
            self._by_name[node.name] = found
        return found(rows)

    def _whole_bytes(self, chain: Timeline, name: str) -> int:
        top, bottom = chain.margins.get(name, (0, 0))
        value = self._graph.values[name]
        if not top and not bottom:
            return value.size_bytes
        return value.size_bytes + (top + bottom) * row_bytes(self._graph, name)

    def cost(self, chain: Timeline) -> float:
        """Cycles that running in turns takes beyond those of whole layers."""
        graph = self._graph
        cost = _slid_bytes(graph, chain) * BYTE_CYCLES
        for node in chain.nodes:
            firing = chain.firings[node.name]
            once, whole = self._need(node, firing.rows).cycles, self._whole_cycles.get(node.name)
            if once is not None and whole is not None:
                cost += once * firing.count - whole
                continue
            cost += CALL_CYCLES * firing.count
            for read in self._reads[node.name]:
                again = read.window.height(firing.rows) - read.window.advance(firing.rows)
                each = firing.count * row_bytes(graph, read.name) * BYTE_CYCLES
                cost += max(again, 0) * each
        return cost


def _slid_bytes(graph: Graph, chain: Timeline) -> int:
    """Bytes that slide in a run."""
    total = 0
    for name, firing in chain.written().items():
        depth = chain.depths.get(name)
        if depth is not None and depth > firing.rows:
            kept = (depth - firing.rows) * row_bytes(graph, name)
            total += kept * (firing.count + firing.padding)
    return total


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
