"""Integer graphs whose pooled layers compute something else: other widths, plain weights."""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder
from edgec.ir.weighted import POOLED, pooled_attrs, pooled_inputs, unpooled, weights_of


def pooled_nodes(graph: Graph) -> tuple[Node, ...]:
    """Nodes with pooled weights, in order."""
    return tuple(node for node in graph.nodes if isinstance(node.attrs, POOLED))


def with_rounding(
    graph: Graph, change: Callable[[Node, qops.PoolRounding], qops.PoolRounding]
) -> Graph:
    """The graph with another `PoolRounding` of each pooled node: ``change(node, its own)``."""
    builder = GraphBuilder.of(graph)
    for node in pooled_nodes(graph):
        attrs = pooled_attrs(node)
        changed = replace(attrs, rounding=change(node, attrs.rounding))
        builder.put(replace(node, attrs=changed))
    return builder.build()


def limited_bits(graph: Graph, bits: int) -> Graph:
    """The graph whose pooled layers see at most `bits` bits of each activation.

    It is what a model computes whose width was set to `bits` at run time.
    """
    return with_rounding(
        graph,
        lambda _node, own: replace(own, activation_bits=min(own.activation_bits, bits)),
    )


def with_plain_weights(graph: Graph, names: Set[str]) -> Graph:
    """The graph with plain operators, which hold all their weights, for some pooled nodes.

    Args:
        graph: INTEGER stage.
        names: names of pooled nodes that round neither activations nor responses.
    """
    builder = GraphBuilder.of(graph)
    for node in pooled_nodes(graph):
        if node.name in names:
            weight = builder.constant(f"{node.name}/weight", weights_of(graph, node))
            inputs = pooled_inputs(node).plain(weight).names()
            builder.put(replace(node, attrs=unpooled(node.attrs), inputs=inputs))
    return builder.build()
