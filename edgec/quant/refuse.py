"""What has a real form but no integer one: said at once, before anything is calibrated."""

from __future__ import annotations

from edgec.dtypes import DType
from edgec.errors import UnsupportedModelError, UnsupportedNode
from edgec.frontend.names import shown
from edgec.ir import ops
from edgec.ir.graph import Graph, Node

_TRANSFORMERS_ONLY = (
    *(ops.LayerNormalization, ops.RMSNormalization, ops.MatMul, ops.Attention),
    *(ops.Embedding, ops.Where, ops.Cast, ops.Expand),
)


def refuse_real_only(graph: Graph) -> None:
    """Check that every operator has an integer form in a convolutional network.

    Args:
        graph: REAL stage.

    Raises:
        UnsupportedModelError: all the nodes that have none.
    """
    _refuse(graph, [node for node in graph.nodes if _is_real_only(graph, node)])


def refuse_in_transformer(graph: Graph, supported: tuple[type, ...]) -> None:
    """Check that every operator has an integer form in a transformer.

    Args:
        graph: REAL stage.
        supported: operators that have one, attention with a bias on its logits apart.

    Raises:
        UnsupportedModelError: all the nodes that have none.
    """
    _refuse(graph, [n for n in graph.nodes if not isinstance(n.attrs, supported) or _is_logic(n)])


def _refuse(graph: Graph, nodes: list[Node]) -> None:
    if nodes:
        raise UnsupportedModelError(tuple(_problem(graph, node) for node in nodes))


def _is_real_only(graph: Graph, node: Node) -> bool:
    # Token ids and masks reach movers, too.
    numbers = [graph.values[name] for name in node.inputs if name in graph.inputs]
    if any(value.dtype is DType.INT32 for value in numbers):
        return True
    return isinstance(node.attrs, _TRANSFORMERS_ONLY) or _is_logic(node)


def _is_logic(node: Node) -> bool:
    """A mask that is computed, or added to logits."""
    if isinstance(node.attrs, ops.Attention):
        return len(node.inputs) > 3 and node.inputs[3] != ""
    return bool(node.attrs == ops.Unary(ops.UnaryKind.NOT))


def _problem(graph: Graph, node: Node) -> UnsupportedNode:
    biased = isinstance(node.attrs, ops.Attention)
    return UnsupportedNode(
        name=shown(node.sources[-1] if node.sources else node.name),
        op=node.op,
        shape="x".join(map(str, graph.shape(node.output))),
        reason="a bias on the logits has no integer form" if biased else "it has no integer form",
        remedy="leave it out of the network, or use a later edgec",
    )
