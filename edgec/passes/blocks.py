"""Sweeps large graphs block by block, so that the time of a pass grows with the graph, not faster.

Every change of a graph makes a new graph: work for all of its nodes.  In a block of bounded size
that work is bounded.  A block is a run of nodes in topological order, as a graph of its own: what
it reads from outside are its inputs, what is read outside its outputs, so that a rule never changes
what others can see.  What rules would match across the border of two blocks is left for the blocks
of a second round, which lie over the borders of the first, or for a sweep of the whole graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from edgec.base.limits import SWEEP_BLOCK_NODES
from edgec.ir.graph import Constant, Graph, Node

Sweep = Callable[[Graph], Graph]


def sweep_blocks(graph: Graph, sweep: Sweep) -> Graph:
    """A graph after `sweep` of its blocks, and of blocks around the borders of these.

    Args:
        graph: any.
        sweep: changes a graph, but neither what its inputs and outputs are called nor what they
            hold.
    """
    for start in (SWEEP_BLOCK_NODES, SWEEP_BLOCK_NODES // 2):
        graph = _swept(graph, sweep, start)
    return graph


def _swept(graph: Graph, sweep: Sweep, first: int) -> Graph:
    """One round: a block of `first` nodes, then blocks of full size."""
    merged = _Merged(graph)
    readers = _last_readers(graph)
    for start, end in _borders(len(graph.nodes), first):
        block = merged.seen_by(_block(graph, start, end, readers))
        merged.take(block, sweep(block))
    return merged.graph()


def _borders(nodes: int, first: int) -> Iterator[tuple[int, int]]:
    start, end = 0, first
    while start < nodes:
        yield start, min(end, nodes)
        start, end = end, end + SWEEP_BLOCK_NODES


def _last_readers(graph: Graph) -> Mapping[str, int]:
    """For each value the number of the last node that reads it; of outputs beyond all nodes."""
    last = {name: index for index, node in enumerate(graph.nodes) for name in node.inputs}
    return last | dict.fromkeys(graph.outputs, len(graph.nodes))


def _block(graph: Graph, start: int, end: int, readers: Mapping[str, int]) -> Graph:
    """Some nodes as a graph."""
    nodes = graph.nodes[start:end]
    made = {name for node in nodes for name in node.outputs}
    read = dict.fromkeys(name for node in nodes for name in node.inputs if name)
    return graph.replace(
        nodes=nodes,
        inputs=tuple(name for name in read if name in graph.values and name not in made),
        outputs=tuple(name for node in nodes for name in node.outputs if readers[name] >= end),
        values={name: graph.values[name] for name in (*read, *made) if name in graph.values},
        constants={name: graph.constants[name] for name in read if name in graph.constants},
        input_layouts={},
        output_layouts={},
        input_features={},
    )


class _Merged:
    """The graph that the blocks are put together to."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._nodes: list[Node] = []
        self._values = {name: graph.values[name] for name in graph.inputs}
        self._constants: dict[str, Constant] = {}
        self._taken = {*graph.values, *graph.constants, *(node.name for node in graph.nodes)}

    def seen_by(self, block: Graph) -> Graph:
        """A block whose inputs are what the blocks before it made of them."""
        given = {name: self._values[name] for name in block.inputs}
        return block.replace(values={**block.values, **given})

    def take(self, before: Graph, after: Graph) -> None:
        """Append a block: what it was, and what became of it."""
        known = {*before.values, *before.constants, *(node.name for node in before.nodes)}
        names = (*after.values, *after.constants, *(node.name for node in after.nodes))
        made = [name for name in dict.fromkeys(names) if name not in known]
        made += [name for name in after.constants if self._differs(before, after.constants[name])]
        new = self._new_names(made)
        self._nodes += [_renamed(node, new) for node in after.nodes]
        for name, value in after.values.items():
            if name not in before.inputs:
                own = new.get(name, name)
                self._values[own] = value if own == name else replace(value, name=own)
        for name, constant in after.constants.items():
            own = new.get(name, name)
            self._constants[own] = constant if own == name else replace(constant, name=own)

    def _differs(self, before: Graph, constant: Constant) -> bool:
        """Whether a block changed a constant that others read under this name."""
        return before.constants.get(constant.name, constant) is not constant

    def _new_names(self, names: Iterable[str]) -> Mapping[str, str]:
        """Names that no other block has."""
        found = {}
        for name in names:
            fresh, number = name, 0
            while fresh in self._taken:
                number += 1
                fresh = f"{name}#{number}"
            self._taken.add(fresh)
            if fresh != name:
                found[name] = fresh
        return found

    def graph(self) -> Graph:
        """All blocks."""
        return self._graph.replace(
            nodes=tuple(self._nodes), values=self._values, constants=self._constants
        ).pruned()


def _renamed(node: Node, new: Mapping[str, str]) -> Node:
    if not new:
        return node
    return replace(
        node,
        name=new.get(node.name, node.name),
        inputs=tuple(new.get(name, name) for name in node.inputs),
        outputs=tuple(new.get(name, name) for name in node.outputs),
    )
