"""One view of the integer operators with weights, plain or pooled.

A pooled operator holds a plain one, and its weights are two constants (pool and indices) where a
plain one has one.  Passes and the lowering ask here, so that both kinds are treated alike.
"""

from __future__ import annotations

from typing import Any

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weight_pool import expand

POOLED = (qops.QPooledConv, qops.QPooledGemm)
"""Operators whose operands are x, pool, indices, bias, multiplier; maybe a residual or a table."""
PLAIN = (qops.QConv, qops.QGemm)
"""Operators whose operands are x, weight, bias, multiplier; maybe a residual or a table.  Those of
`POOLED` hold one."""


def unpooled(attrs: Any) -> Any:
    """The plain operator inside a pooled one; any other as it is."""
    match attrs:
        case qops.QPooledConv(conv=inner) | qops.QPooledGemm(gemm=inner):
            return inner
        case _:
            return attrs


def pooled_attrs(node: Node) -> qops.QPooledConv | qops.QPooledGemm:
    """The attributes of a node with pooled weights; InternalError for any other."""
    return node.attrs_as(qops.QPooledConv, qops.QPooledGemm)


def with_plain(attrs: Any, plain: Any) -> Any:
    """The operator with another plain one inside, or that one itself when nothing is pooled."""
    match attrs:
        case qops.QPooledConv():
            return qops.QPooledConv(plain, attrs.pooling)
        case qops.QPooledGemm():
            return qops.QPooledGemm(plain, attrs.pooling)
        case _:
            return plain


def residual_of(attrs: Any) -> qops.Residual | None:
    """The addition at the end of a layer with weights, if there is one."""
    plain = unpooled(attrs)
    return plain.residual if isinstance(plain, PLAIN) else None


def form_of(attrs: Any) -> qops.Requantization | None:
    """The form of requantization in which an operator ends; None of one that has none."""
    output: qops.Requantization | None = getattr(unpooled(attrs), "output", None)
    return output


def rows_at(attrs: Any) -> int:
    """Which input of the operator holds one entry per output channel along its first axis.

    That is the weight of a plain operator, the indices of a pooled one; bias and multiplier follow.
    """
    return 2 if isinstance(attrs, POOLED) else 1


def weights_of(graph: Graph, node: Node) -> Array:
    """The int8 weights of an operator, those of a pooled one expanded.

    Returns:
        int8 [O, KH, KW, I/group] of a convolution, [N, K] of a matrix product.

    Raises:
        InternalError: the operator has no weights.
    """
    if isinstance(node.attrs, POOLED):
        vectors, indices = (graph.constants[name].array for name in node.inputs[1:3])
        return expand(vectors, indices, graph.shape(node.inputs[0])[-1])
    if not isinstance(node.attrs, (*PLAIN, qops.QConvTranspose)):
        raise InternalError(f"{node.op} has no weights", where=node.name)
    return graph.constants[node.inputs[1]].array
