"""Specifications of the kernels that only transformers have, from nodes of the integer graph."""

from __future__ import annotations

import dataclasses
import math

from edgec.base.errors import LoweringError
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.lower.code_range import is_symmetric
from edgec.lower.dense_weights import QUAD
from edgec.lower.spec import Attention, AttentionDsp, Embedding, IsEqual, NarrowSoftmax, Norm
from edgec.lower.spec_transformer import Columns
from edgec.target.target import Target

_FARTHEST_BYTES = 4095
"""Largest offset in the address of a load."""


def norm(graph: Graph, node: Node) -> Norm:
    """`Norm` of a QNorm."""
    attrs = node.attrs_as(qops.QNorm)
    *rows, channels = graph.shape(node.inputs[0])
    return Norm(
        rows=math.prod(rows),
        channels=channels,
        centred=attrs.centred,
        square_shift=attrs.square_shift,
        shift=attrs.shift,
        low=attrs.low,
        high=attrs.high,
        dtype=attrs.dtype,
        shifted=attrs.shifted,
    )


def attention(graph: Graph, node: Node) -> Attention:
    """`Attention` of a QAttention."""
    attrs = node.attrs_as(qops.QAttention)
    q, k, v = (graph.shape(name) for name in node.inputs[:3])
    batch = math.prod(q[:-2])
    return Attention(
        batch=batch,
        queries=q[-2],
        keys=k[-2],
        heads=attrs.heads,
        q=Columns(q[-1], attrs.q_start, attrs.width),
        k=Columns(k[-1], attrs.k_start, attrs.width),
        v=Columns(v[-1], attrs.v_start, attrs.value_width),
        exp_bits=attrs.exp_bits,
        mask_stride=_mask_stride(graph, node, batch, k[-2]),
        narrowed=attrs.narrowed,
        bias_steps=graph.shape(node.inputs[-2])[1] if attrs.bias else 0,
        bias_stride=q[-2] * k[-2] if attrs.bias and graph.shape(node.inputs[-1])[0] > 1 else 0,
    )


def accepts_dsp(graph: Graph, node: Node, target: Target) -> bool:
    """What `AttentionDsp` asks for, and strides that fit its addresses."""
    plain = attention(graph, node)
    return (
        target.has_dsp
        and plain.mask_stride is None
        and plain.keys > 1
        and plain.q.width % QUAD == 0
        and plain.v.width % 2 == 0
        and plain.k.stride <= _FARTHEST_BYTES
        and plain.v.stride <= _FARTHEST_BYTES
        and is_symmetric(graph, node.inputs[0])
    )


def attention_dsp(graph: Graph, node: Node) -> AttentionDsp:
    """`AttentionDsp` of a QAttention that `accepts_dsp` accepts."""
    plain = attention(graph, node)
    fields = {field.name: getattr(plain, field.name) for field in dataclasses.fields(plain)}
    return AttentionDsp(**fields)


def accepts_dual(graph: Graph, node: Node, target: Target) -> bool:
    """As `accepts_dsp`, on a core that issues two instructions."""
    return target.dual_issue and accepts_dsp(graph, node, target)


def attention_dual(graph: Graph, node: Node) -> AttentionDsp:
    """`attention_dsp` for such a core."""
    return dataclasses.replace(attention_dsp(graph, node), dual_issue=True)


def _mask_stride(graph: Graph, node: Node, batch: int, keys: int) -> int | None:
    if not node.attrs_as(qops.QAttention).keys:
        return None
    entries = math.prod(graph.shape(node.inputs[4]))
    if entries not in (keys, batch * keys):
        raise LoweringError(
            f"a mask of {entries} entries serves neither all {batch} batches nor each of its own",
            where=node.name,
        )
    return keys if entries > keys else 0


def embedding(graph: Graph, node: Node) -> Embedding:
    """`Embedding` of a QEmbedding."""
    ids, table = node.inputs
    vocabulary, channels = graph.shape(table)
    return Embedding(
        tokens=math.prod(graph.shape(ids)),
        vocabulary=vocabulary,
        channels=channels,
        dtype=graph.constants[table].dtype,
        multiplier=node.attrs_as(qops.QEmbedding).multiplier,
        y_dtype=node.attrs_as(qops.QEmbedding).dtype,
    )


def softmax(graph: Graph, node: Node) -> NarrowSoftmax:
    """`NarrowSoftmax` of a QSoftmaxOctaves."""
    attrs = node.attrs_as(qops.QSoftmaxOctaves)
    *rows, depth = graph.shape(node.output)
    numbers = attrs.distance_multiplier, attrs.distance_limit, attrs.exp_bits
    return NarrowSoftmax(math.prod(rows), depth, *numbers)


def is_equal(graph: Graph, node: Node) -> IsEqual:
    """`IsEqual` of a QIsEqual."""
    return IsEqual(math.prod(graph.shape(node.output)), node.attrs_as(qops.QIsEqual).value)
