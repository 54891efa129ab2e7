"""One view of the integer operators with weights, plain or pooled.

A pooled operator holds a plain one, and its weights are two constants (pool and indices) where a
plain one has one.  Passes and the lowering ask here, so that both kinds are treated alike.

Bounds of a layer's accumulators from its weights and bias, for any input.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from edgec.base.dtypes import Array, DType
from edgec.base.fixedpoint import INT8_MAX, INT8_MIN
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.weight_pool import expand, terms_of

POOLED = (qops.QPooledConv, qops.QPooledGemm)
"""The operators that are a `qops.PooledLayer`."""
PLAIN = (qops.QConv, qops.QGemm)
"""The operators that are a `qops.PlainLayer`; those of `POOLED` hold one."""

LayerInputs = qops.PlainLayer.Inputs[str] | qops.PooledLayer.Inputs[str]
WeightedInputs = qops.Weighted.Inputs[str] | qops.PooledLayer.Inputs[str]


def weighted_inputs(node: Node) -> WeightedInputs:
    """The operands of a node with weights, plain or pooled; InternalError for any other."""
    return node.attrs_as(qops.Weighted, qops.PooledLayer).Inputs.of(node.inputs)


def layer_inputs(node: Node) -> LayerInputs:
    """As `weighted_inputs`, of a node that may have a residual or a table."""
    return node.attrs_as(qops.PlainLayer, qops.PooledLayer).Inputs.of(node.inputs)


def plain_inputs(node: Node) -> qops.Weighted.Inputs[str]:
    """The operands of a node that holds its weights; InternalError for any other."""
    return node.attrs_as(qops.Weighted).Inputs.of(node.inputs)


def input_zero_point(graph: Graph, node: Node) -> int:
    """The zero point of x; 0 for a product that takes raw codes."""
    raw = isinstance(node.attrs, qops.QGemm) and node.attrs.raw
    return 0 if raw else zero_point_of(graph, plain_inputs(node).x)


def zero_point_of(graph: Graph, name: str) -> int:
    """The zero point of a tensor; 0 where it has one for each channel: then raw codes are read."""
    quant = graph.quant(name)
    return quant.tensor_zero_point if quant.axis is None else 0


def pooled_inputs(node: Node) -> qops.PooledLayer.Inputs[str]:
    """The operands of a node with pooled weights; InternalError for any other."""
    return node.attrs_as(qops.PooledLayer).Inputs.of(node.inputs)


def layer_terms(graph: Graph, node: Node) -> int:
    """Vectors of the pool that are added up to one vector of a node with pooled weights."""
    inputs = pooled_inputs(node)
    indices, x, pool = (graph.shape(name) for name in (inputs.indices, inputs.x, inputs.pool))
    return terms_of(indices[-1], x[-1], pool[1])


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
            return qops.QPooledConv(plain, attrs.rounding)
        case qops.QPooledGemm():
            return qops.QPooledGemm(plain, attrs.rounding)
        case _:
            return plain


_ENDED = (*PLAIN, qops.BinaryLayer, qops.PlaneLayer)


def residual_of(attrs: Any) -> qops.Residual | None:
    """The addition at the end of a layer with weights, if there is one."""
    plain = unpooled(attrs)
    return plain.residual if isinstance(plain, _ENDED) else None


def form_of(attrs: Any) -> qops.Requantization | qops.CodeMean | None:
    """The form in which an operator ends; None of one that has none."""
    output: qops.Requantization | qops.CodeMean | None = getattr(unpooled(attrs), "output", None)
    return output


def code_bounds(attrs: object) -> tuple[int, int] | None:
    """Least and largest code that an operator gives, by the form or rule in which it ends.

    None where nothing says it.
    """
    names = ("output", "form", "rule")
    end = next((getattr(attrs, name) for name in names if hasattr(attrs, name)), attrs)
    low, high = getattr(end, "low", None), getattr(end, "high", None)
    return None if low is None or high is None else (int(low), int(high))


def is_int8_layer(graph: Graph, node: Node) -> bool:
    """Whether a node with weights is one of int8: it reads such codes, and ends in such, or in
    16 by 15 bits.
    """
    form = form_of(node.attrs)
    narrow = isinstance(form, qops.Rescale16x15) or (form and form.dtype is DType.INT8)
    return graph.tensor(weighted_inputs(node).x).dtype is DType.INT8 and bool(narrow)


def weights_of(graph: Graph, node: Node) -> Array:
    """The int8 weights of an operator, those of a pooled one expanded.

    Returns:
        int8 [O, KH, KW, I/group] of a convolution, [N, K] of a matrix product.

    Raises:
        InternalError: the operator has no weights.
    """
    if isinstance(node.attrs, POOLED):
        inputs = pooled_inputs(node)
        vectors, indices = (graph.constants[n].array for n in (inputs.pool, inputs.indices))
        return expand(vectors, indices, graph.shape(inputs.x)[-1])
    return graph.constants[plain_inputs(node).w].array


def product_range(graph: Graph, node: Node) -> tuple[Array, Array]:
    """Bounds of the sums of products of each channel of a layer with weights: int64 [O] each."""
    zero_point = input_zero_point(graph, node)
    weights = graph.constants[plain_inputs(node).w].array
    rows = weights.reshape(len(weights), -1).astype(np.int64)
    products = rows * (INT8_MIN - zero_point), rows * (INT8_MAX - zero_point)
    # Taps outside of an image add nothing, which is between the two.
    return np.minimum(*products).sum(axis=1), np.maximum(*products).sum(axis=1)


def accumulator_range(graph: Graph, node: Node) -> tuple[Array, Array]:
    """Bounds of the accumulators of each channel, bias included: int64 [O] each."""
    bias = graph.constants[plain_inputs(node).b].array.astype(np.int64)
    least, greatest = product_range(graph, node)
    return bias + least, bias + greatest
