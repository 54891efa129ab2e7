"""What has a real form but no integer one: said at once, before anything is calibrated."""

from __future__ import annotations

from collections.abc import Collection

from edgec.base.dtypes import DType
from edgec.base.errors import QuantizationError, UnsupportedModelError, UnsupportedNode
from edgec.base.names import shown
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.quant.common.searched import is_open

_WITHOUT_CODES = (ops.Attention, ops.Embedding)
"""Operators that have no integer form from and to any int8 codes."""


def refuse_real_only(graph: Graph, supported: Collection[type]) -> None:
    """Check that every operator has an integer form in a network whose ranges are observed.

    Args:
        graph: REAL stage.
        supported: operators that have one, as far as `_is_real_only` has nothing against a node.

    Raises:
        UnsupportedModelError: all the nodes that have none.
    """
    refused = [n for n in graph.nodes if type(n.attrs) not in supported or _is_real_only(graph, n)]
    _refuse(graph, refused)


def refuse_in_transformer(graph: Graph, supported: Collection[type]) -> None:
    """Check that every operator has an integer form in a network whose scales are searched.

    Args:
        graph: REAL stage.
        supported: operators that have one, as far as `_obstacle` has nothing against a node.

    Raises:
        UnsupportedModelError: all the nodes that have none.
    """
    refused = [n for n in graph.nodes if type(n.attrs) not in supported or _obstacle(graph, n)]
    _refuse(graph, refused)


def refuse_some_pins(graph: Graph) -> None:
    """Check that a network whose scales are searched brings none of its own.

    Args:
        graph: REAL stage, with norms or attention of tensors that are not pinned.

    Raises:
        QuantizationError: it pins some tensors.
    """
    if all(value.quant is None for value in graph.values.values()):
        return
    node = next(node for node in graph.nodes if is_open(graph, node))
    raise QuantizationError(
        "the model quantizes some of its tensors (QuantizeLinear), but not those around this "
        f"{node.op}",
        where=shown(node.sources[-1] if node.sources else node.name),
        hint="quantize all tensors of the model, or give the float model: edgec quantizes it",
    )


def _refuse(graph: Graph, nodes: list[Node]) -> None:
    if nodes:
        raise UnsupportedModelError(tuple(_problem(graph, node) for node in nodes))


def _is_real_only(graph: Graph, node: Node) -> bool:
    # Token ids and masks reach movers, too.
    numbers = [graph.values[name] for name in node.inputs if name in graph.inputs]
    if any(value.dtype is DType.INT32 for value in numbers):
        return True
    return isinstance(node.attrs, _WITHOUT_CODES) or _compares(node)


def _compares(node: Node) -> bool:
    return isinstance(node.attrs, ops.Unary) and node.attrs.kind is ops.UnaryKind.NOT


def _obstacle(graph: Graph, node: Node) -> tuple[str, str] | None:
    """Why a node of an operator with an integer form has none, and what to do; else None."""
    if isinstance(node.attrs, ops.Attention):
        bias = ops.Attention.Inputs.of(node.inputs).bias
        if bias and not graph.is_constant(bias):
            return (
                "a bias on the logits, or a mask of pairs, is computed at run time",
                "use a constant bias, and a mask with one number a key",
            )
    if isinstance(node.attrs, ops.Softmax):
        readers = graph.consumers[node.output]
        if any(isinstance(reader.attrs, ops.MatMul) for reader in readers):
            return (
                "it belongs to an attention of a form that is not known",
                "write the attention as torch.nn.functional.scaled_dot_product_attention",
            )
    if _compares(node) and graph.values[node.first].dtype is not DType.INT32:
        return "it compares real numbers", "compare token ids or masks"
    return None


def _problem(graph: Graph, node: Node) -> UnsupportedNode:
    reason, remedy = _obstacle(graph, node) or (
        "it has no integer form",
        "leave it out of the network, or use a later edgec",
    )
    return UnsupportedNode(
        name=shown(node.sources[-1] if node.sources else node.name),
        op=node.op,
        shape="x".join(map(str, graph.shape(node.output))),
        reason=reason,
        remedy=remedy,
    )
