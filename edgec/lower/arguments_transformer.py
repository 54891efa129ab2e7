"""What the kernels of a transformer's operators are called with."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array, frozen
from edgec.base.errors import InternalError
from edgec.base.fixedpoint import INT32_MAX, INT32_MIN
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.arithmetic import half_step
from edgec.lower.arguments import ConstantPool
from edgec.lower.build_pooled_narrow import stored_pool
from edgec.lower.dense_weights import by_column, flipped_quads, interleaved, odd_sums
from edgec.lower.layer_end import rescale16x15_of
from edgec.lower.neon_weights import packed, padded
from edgec.lower.params import (
    AttentionParams,
    NarrowParams,
    NormParams,
    Params,
    PoolNarrowParams,
    SingleParams,
)
from edgec.lower.spec import (
    DenseDsp,
    DenseNeon,
    DenseQuads,
    DenseTriples,
    Depthwise,
    KernelSpec,
    PooledDecode,
    PooledDecodeDsp,
)

_Single = qops.QMatMul | qops.QMul | qops.QReduce | qops.QRescale
"""Operators with one multiplier."""


def transformer_params(
    graph: Graph, node: Node, spec: KernelSpec, pool: ConstantPool
) -> tuple[Params, ...]:
    """The argument structs of one call of an operator that ends in 16 by 15 bits.

    Also of norms and attention.

    Raises:
        InternalError: an accumulator can overflow, which the quantizer has excluded.
    """
    attrs = node.attrs
    match attrs:
        case qops.QGemm() | qops.QConv():
            return (_weighted(graph, node, spec, pool),)
        case qops.QMatMul() | qops.QMul():
            zero_points = [_zero_point(graph, name) for name in node.inputs]
            return (SingleParams(attrs.multiplier, _with_half(attrs, node), *zero_points),)
        case qops.QReduce():
            zero_point = _zero_point(graph, node.inputs[0])
            return (SingleParams(attrs.multiplier, _with_half(attrs, node), zero_point),)
        case qops.QRescale():
            return (SingleParams(attrs.multiplier, _with_half(attrs, node)),)
        case qops.QNorm():
            gamma, beta = (graph.constants[name].array for name in node.inputs[1:3])
            references = pool.add("gamma", gamma), pool.add("beta", beta)
            return (NormParams(*references, attrs.epsilon, attrs.least_shift),)
        case qops.QAttention():
            heads = graph.constants[node.inputs[3]].array
            return (AttentionParams(pool.add("heads", heads)),)
        case _:
            return ()


def _weighted(
    graph: Graph, node: Node, spec: KernelSpec, pool: ConstantPool
) -> NarrowParams | PoolNarrowParams:
    attrs = node.attrs_as(qops.QGemm, qops.QConv)
    weights, bias, multiplier = (graph.constants[name].array for name in node.inputs[1:4])
    raw = isinstance(attrs, qops.QGemm) and attrs.raw
    x_zero_point = 0 if raw else _zero_point(graph, node.inputs[0])
    folded = bias.astype(np.int64) + half_step(rescale16x15_of(node).pre_shift)
    if not isinstance(spec, Depthwise):
        # These kernels sum up x * w, not (x - zx) * w; padding holds zx.
        rows = weights.astype(np.int64).reshape(weights.shape[0], -1)
        folded -= x_zero_point * rows.sum(axis=1)
    if isinstance(spec, PooledDecode | PooledDecodeDsp):
        table, indices = stored_pool(graph, node)
        return PoolNarrowParams(
            table=pool.add("pool_table", table, shared=True),
            indices=pool.add("indices", indices),
            bias=pool.add("bias", _int32(folded, node)),
            multiplier=pool.add("multipliers", multiplier),
            x_zero_point=x_zero_point,
        )
    if isinstance(spec, DenseDsp):
        weights = interleaved(weights)
    if isinstance(spec, DenseQuads):
        folded += odd_sums(weights) if spec.any_code else 0
        weights = flipped_quads(weights)
    if isinstance(spec, DenseTriples):
        weights = by_column(weights, spec.filters, spec.padded_depth)
    if isinstance(spec, DenseNeon):
        weights, folded, multiplier = packed(weights), padded(folded), padded(multiplier)
    return NarrowParams(
        weights=pool.add("weights", weights),
        bias=pool.add("bias", _int32(folded, node)),
        multiplier=pool.add("multipliers", multiplier),
        x_zero_point=x_zero_point,
    )


def _with_half(attrs: _Single, node: Node) -> int:
    """The bias of an operator with one multiplier, with the half step of its first shift."""
    bias = np.array(attrs.bias + half_step(rescale16x15_of(node).pre_shift), np.int64)
    return int(_int32(bias, node))


def _int32(values: Array, node: Node) -> Array:
    if np.any((values < INT32_MIN) | (values > INT32_MAX)):
        raise InternalError("an accumulator can overflow 32 bits", where=node.name)
    return frozen(values, np.int32)


def _zero_point(graph: Graph, name: str) -> int:
    """Of a tensor; 0 where it is quantized per channel, whose readers take raw codes."""
    quant = graph.quant(name)
    return quant.tensor_zero_point if quant.axis is None else 0
