"""Reorder independent branches so that fewer bytes are alive at once.

Rules:
1. greedy: of the operators that can run, the one that leaves the fewest bytes alive comes next;
   ties in the given order.
2. only if it helps: the new order replaces the given one when its peak is lower.

A graph with loops or carried values keeps its order: there, what is read before what is written
matters, too.

The peak is the largest sum of tensors alive at one step, without in-place execution; a `QReshape`
shares the bytes of its input.  A chain of operators has one order only and is left as it is.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence

from edgec.ir import qops
from edgec.ir.graph import Graph, Node


def schedule(graph: Graph) -> Graph:
    """The graph in the order with the lower peak."""
    if not graph.is_straight:
        return graph
    order = _greedy(graph)
    if peak_bytes(graph, order) < peak_bytes(graph, graph.nodes):
        return graph.replace(nodes=order)
    return graph


def schedule_notes(before: Graph, after: Graph) -> tuple[str, ...]:
    """One line when the order changed."""
    first, second = (peak_bytes(graph, graph.nodes) for graph in (before, after))
    if first == second:
        return ()
    return (f"operators reordered: peak of live tensors {first:,} -> {second:,} bytes",)


def peak_bytes(graph: Graph, order: Sequence[Node]) -> int:
    """Largest sum of the bytes of tensors alive at one step of an order."""
    state = _Alive(graph)
    peak = 0
    for node in order:
        peak = max(peak, state.bytes + state.added(node))
        state.run(node)
    return peak


class _Alive:
    """Tensors that are alive while operators run one after the other."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._root: dict[str, str] = {name: name for name in graph.inputs}
        for node in graph.nodes:
            for name in node.outputs:
                shares = isinstance(node.attrs, qops.QReshape)
                self._root[name] = self._root[node.input] if shares else name
        self._uses = dict.fromkeys(self._root.values(), 0)
        for node in graph.nodes:
            for name in self.read(node):
                self._uses[name] += 1
        for name in graph.outputs:
            self._uses[self._root[name]] += 1
        self.bytes = sum(graph.values[name].size_bytes for name in graph.inputs)

    def read(self, node: Node) -> list[str]:
        """Tensors a node reads, each once."""
        return list(dict.fromkeys(self._root[n] for n in node.inputs if n in self._root))

    def is_read_once(self, root: str) -> bool:
        """Whether one reader of a tensor is left."""
        return self._uses[root] == 1

    def added(self, node: Node) -> int:
        """Bytes of the tensors that a node makes."""
        own = [name for name in node.outputs if self._root[name] == name]
        return sum(self._graph.values[name].size_bytes for name in own)

    def freed(self, node: Node) -> int:
        """Bytes that nobody reads after a node."""
        last = [name for name in self.read(node) if self._uses[name] == 1]
        return sum(self._graph.values[name].size_bytes for name in last)

    def run(self, node: Node) -> None:
        """Make the node's output and free what it was the last to read."""
        self.bytes += self.added(node) - self.freed(node)
        for name in self.read(node):
            self._uses[name] -= 1


def _greedy(graph: Graph) -> tuple[Node, ...]:
    """Always the operator next that leaves the fewest bytes; of equal ones the first in the graph.

    What an operator leaves becomes less only while it waits, when it becomes the last reader of a
    tensor: it then enters the heap once more, and its older entries come after it has run.
    """
    waiting = _Waiting(graph)
    done: list[Node] = []
    while waiting.heap:
        _, index = heapq.heappop(waiting.heap)
        if index not in waiting.gone:
            done.append(graph.nodes[index])
            waiting.run(index)
    return tuple(done)


class _Waiting:
    """The operators that have not run.

    Attributes:
        heap: bytes that an operator adds, and its number, of those whose operands are there.
        gone: numbers of operators that have run.
    """

    def __init__(self, graph: Graph) -> None:
        self._nodes = graph.nodes
        self._state = _Alive(graph)
        self._readers: dict[str, list[int]] = defaultdict(list)
        ready = {"", *graph.inputs, *graph.constants}
        self._missing = [len(set(node.inputs) - ready) for node in graph.nodes]
        self._followers: dict[str, list[int]] = defaultdict(list)
        for index, node in enumerate(graph.nodes):
            for name in set(node.inputs) - ready:
                self._followers[name].append(index)
            for root in self._state.read(node):
                self._readers[root].append(index)
        self.gone: set[int] = set()
        self.heap: list[tuple[int, int]] = []
        for index, missing in enumerate(self._missing):
            if not missing:
                self._push(index)

    def _push(self, index: int) -> None:
        node = self._nodes[index]
        added = self._state.added(node) - self._state.freed(node)
        heapq.heappush(self.heap, (added, index))

    def run(self, index: int) -> None:
        """Run an operator: others get their operands, or become the last to read theirs."""
        node = self._nodes[index]
        self.gone.add(index)
        self._state.run(node)
        changed = {
            reader
            for root in self._state.read(node)
            if self._state.is_read_once(root)
            for reader in self._readers[root]
            if reader not in self.gone and not self._missing[reader]
        }
        for name in node.outputs:
            for follower in self._followers[name]:
                self._missing[follower] -= 1
                if not self._missing[follower]:
                    changed.add(follower)
        for other in sorted(changed):
            self._push(other)
