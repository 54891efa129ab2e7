"""What has a real form but no integer one yet: said at once, before anything is calibrated."""

from __future__ import annotations

from edgec.dtypes import DType
from edgec.errors import UnsupportedModelError, UnsupportedNode
from edgec.frontend.names import shown
from edgec.ir import ops
from edgec.ir.graph import Graph, Node

_REAL_ONLY = (
    *(ops.LayerNormalization, ops.RMSNormalization, ops.MatMul, ops.Attention),
    *(ops.Embedding, ops.Where, ops.Cast, ops.Expand),
)


def refuse_real_only(graph: Graph) -> None:
    """Check that every operator has an integer form.

    Args:
        graph: REAL stage.

    Raises:
        UnsupportedModelError: all the nodes that have none.
    """
    nodes = tuple(_problem(graph, node) for node in graph.nodes if _is_real_only(graph, node))
    if nodes:
        raise UnsupportedModelError(nodes)


def _is_real_only(graph: Graph, node: Node) -> bool:
    # Token ids and masks reach movers, too.
    numbers = [graph.values[name] for name in node.inputs if name in graph.inputs]
    if any(value.dtype is DType.INT32 for value in numbers):
        return True
    return isinstance(node.attrs, _REAL_ONLY) or node.attrs == ops.Unary(ops.UnaryKind.NOT)


def _problem(graph: Graph, node: Node) -> UnsupportedNode:
    return UnsupportedNode(
        name=shown(node.sources[-1] if node.sources else node.name),
        op=node.op,
        shape="x".join(map(str, graph.shape(node.output))),
        reason="integer transformers are not supported yet",
        remedy="use a convolutional network, or a later edgec",
    )
