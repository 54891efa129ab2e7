"""Reorder independent branches so that fewer bytes are alive at once.

Rules:
1. greedy: of the operators that can run, the one that leaves the fewest bytes alive comes next;
   ties in the given order.
2. only if it helps: the new order replaces the given one when its peak is lower.

The peak is the largest sum of tensors alive at one step, without in-place execution; a `QReshape`
shares the bytes of its input.  A chain of operators has one order only and is left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from edgec.ir import qops
from edgec.ir.graph import Graph, Node


def schedule(graph: Graph) -> Graph:
    """The graph in the order with the lower peak."""
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
    """Which tensors are alive while operators run one after the other."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._root: dict[str, str] = {name: name for name in graph.inputs}
        for node in graph.nodes:
            shares = isinstance(node.attrs, qops.QReshape)
            self._root[node.output] = self._root[node.input] if shares else node.output
        self._uses = dict.fromkeys(self._root.values(), 0)
        for node in graph.nodes:
            for name in self._read(node):
                self._uses[name] += 1
        for name in graph.outputs:
            self._uses[self._root[name]] += 1
        self.bytes = sum(graph.values[name].size_bytes for name in graph.inputs)

    def _read(self, node: Node) -> list[str]:
        """Tensors a node reads, each once."""
        return list(dict.fromkeys(self._root[n] for n in node.inputs if n in self._root))

    def added(self, node: Node) -> int:
        """Bytes of the tensor that a node makes."""
        output = node.output
        return self._graph.values[output].size_bytes if self._root[output] == output else 0

    def freed(self, node: Node) -> int:
        """Bytes that nobody reads after a node."""
        last = [name for name in self._read(node) if self._uses[name] == 1]
        return sum(self._graph.values[name].size_bytes for name in last)

    def run(self, node: Node) -> None:
        """Make the node's output and free what it was the last to read."""
        self.bytes += self.added(node) - self.freed(node)
        for name in self._read(node):
            self._uses[name] -= 1


def _greedy(graph: Graph) -> tuple[Node, ...]:
    state = _Alive(graph)
    ready = {"", *graph.inputs, *graph.constants}
    waiting = list(graph.nodes)
    done: list[Node] = []
    while waiting:
        able = [node for node in waiting if all(name in ready for name in node.inputs)]
        best = min(able, key=lambda node: state.added(node) - state.freed(node))
        state.run(best)
        ready.update(best.outputs)
        waiting.remove(best)
        done.append(best)
    return tuple(done)
