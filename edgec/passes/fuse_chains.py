"""Let operators of single elements that follow each other be one, so that nothing between them is
stored, loaded and counted.

Rules:
1. chain: an operator whose operand is the result of another one, of the shape of its output and
   read by nobody else, takes it over.  Both run in one loop, or outside of all.
   * The first one is computed later then, so what it reads lives longer: not more bytes than its
     result has, unless the two stand beside each other, where all of it lives anyway.
   * No carried value that it reads may be updated in between.
"""

from __future__ import annotations

from collections.abc import Iterator

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.passes.edit import sweep

MOST_LINKS = 8
MOST_OPERANDS = 8
"""Most tensors and tables of a chain: beyond, a loop keeps too little in registers."""


def fuse_chains(graph: Graph) -> Graph:
    """Apply the rule until it does not apply."""
    return sweep(graph, _rewrite)


def chain_notes(_before: Graph, after: Graph) -> tuple[str, ...]:
    """One line: operators that are computed together."""
    links = [len(n.attrs.links) for n in after.nodes if isinstance(n.attrs, qops.QChain)]
    return (f"{sum(links)} operators of elements fused into {len(links)}",) if links else ()


def _rewrite(graph: Graph, node: Node) -> Graph | None:
    if not _chainable(graph, node):
        return None
    for name in dict.fromkeys(node.inputs):
        first = graph.producers.get(name)
        if first is None or not _can_take(graph, first, node):
            continue
        made = qops.chained(graph, (first, node))
        links = len(made.attrs_as(qops.QChain).links)
        if links > MOST_LINKS or len(made.inputs) > MOST_OPERANDS:
            continue
        nodes = (made if each is node else each for each in graph.nodes if each is not first)
        return graph.replace(nodes=tuple(nodes)).pruned()
    return None


def _chainable(graph: Graph, node: Node) -> bool:
    kind = isinstance(node.attrs, qops.QChain) or qops.can_link(node.attrs)
    return kind and graph.values[node.output].quant is not None


def _can_take(graph: Graph, first: Node, node: Node) -> bool:
    return (
        _chainable(graph, first)
        and graph.sole_consumer(first.output) is node
        and graph.shape(first.output) == graph.shape(node.output)
        and graph.scopes.nodes[first.name] == graph.scopes.nodes[node.name]
        and _fits_later(graph, first, node)
    )


def _fits_later(graph: Graph, first: Node, node: Node) -> bool:
    """Whether `first` may be computed where `node` is."""
    between = list(_between(graph, first, node))
    if any(each.attrs.updates and each in map(graph.updates.get, first.inputs) for each in between):
        return False
    read = {name for name in first.inputs if name in graph.values}
    freed = sum(
        graph.values[name].size_bytes for name in read if graph.sole_consumer(name) is first
    )
    return not between or freed <= graph.values[first.output].size_bytes


def _between(graph: Graph, first: Node, node: Node) -> Iterator[Node]:
    """The nodes between two of them."""
    after = False
    for each in graph.nodes:
        if each is node:
            return
        if after:
            yield each
        after = after or each is first
