"""The codes and the indices of a TopK, which an importer asks for one by one, in one operator."""

from __future__ import annotations

from dataclasses import replace

from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.graph_builder import GraphBuilder


def merge_top_k(graph: Graph) -> Graph:
    """One QTopK with two outputs in place of two that search the same rows.

    A run of variable length keeps them apart: the sizes of its kernels are those of one output.

    Args:
        graph: INTEGER stage.
    """
    if graph.length is not None:
        return graph
    builder = GraphBuilder.of(graph)
    waiting: dict[tuple[str, qops.QTopK], Node] = {}
    for node in graph.nodes:
        attrs = node.attrs
        if not isinstance(attrs, qops.QTopK) or attrs.both:
            continue
        other = waiting.pop((node.input, replace(attrs, indices=not attrs.indices)), None)
        if other is None:
            waiting.setdefault((node.input, attrs), node)
            continue
        codes, indices = (other, node) if attrs.indices else (node, other)
        # The first of the two keeps its place: all that both read is there.
        builder.remove(node)
        merged = replace(
            other,
            attrs=replace(attrs, indices=True, both=True),
            outputs=(codes.output, indices.output),
            sources=tuple(dict.fromkeys((*codes.sources, *indices.sources))),
        )
        builder.put(merged)
    return builder.build()
