"""Networks whose scales are searched, apart from those whose ranges are given or observed."""

from __future__ import annotations

from edgec.ir import ops
from edgec.ir.graph import Graph, Node


def is_searched(graph: Graph) -> bool:
    """True where a network has a stream or attention whose numbers the model leaves open.

    Its scales are searched by the error of what reads them.  A norm between tensors that the model
    pins to int8 codes computes from and to these codes, as every other operator does; so does an
    embedding whose rows are pinned, and one whose rows a recurrent network reads: no stream of a
    transformer begins there.

    Args:
        graph: REAL stage.
    """
    return any(is_open(graph, node) for node in graph.nodes)


def is_open(graph: Graph, node: Node) -> bool:
    """True for an operator that makes a network one whose scales are searched."""
    if isinstance(node.attrs, ops.Norm):
        return any(graph.values[name].quant is None for name in (node.first, node.output))
    if isinstance(node.attrs, ops.Embedding):
        return graph.values[node.output].quant is None and not graph.updates
    return isinstance(node.attrs, ops.Attention)
