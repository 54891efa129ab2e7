"""Pooled kernels without responses from nodes of the integer graph, and what they read."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array, frozen
from edgec.base.errors import InternalError, LoweringError
from edgec.base.fixedpoint import INT32_MAX, INT32_MIN
from edgec.ir.graph import Graph, Node
from edgec.ir.pool import WeightPool
from edgec.ir.qops.pooling import round_codes
from edgec.ir.weighted import pooled_attrs, weights_of
from edgec.lower.build_pooled import pooled_window
from edgec.lower.dense_weights import FILTERS, QUAD
from edgec.lower.layer_end import end_of
from edgec.lower.pool_config import PoolKernelConfig
from edgec.lower.pool_indices import packed
from edgec.lower.pool_tables import ResponseKind, response_table
from edgec.lower.spec_pooled_dense import BLOCK, PooledDecode, PooledDecodeDsp, PooledDirect

DECODED_BYTES = 4096
"""Expanded weights that are held at a time, unless one block of filters takes more."""
DIRECT_POOL_SIZE = 256
"""Most vectors of a pool that `PooledDirect` serves: offsets into its table have 16 bits."""
_OFFSET = 128
"""Of the entries of a look-up table, all parts together."""


def pooled_decode(
    graph: Graph, node: Node, config: PoolKernelConfig
) -> PooledDecode | PooledDecodeDsp:
    """`PooledDecode` of a QPooledConv or QPooledGemm, or with `config.dsp` the other one.

    Raises:
        LoweringError: the node's responses are scaled, or it is none for `PooledDecodeDsp`.
    """
    _check_exact(node)
    window = pooled_window(graph, node, lanes=1)
    filters = graph.shape(node.inputs[2])[0]
    end = end_of(node)
    if config.dsp and not serves_dsp(graph, node):
        raise LoweringError("the DSP kernel takes multiples of 4 channels", where=node.name)
    block = min(FILTERS if config.dsp else BLOCK, filters)
    few = DECODED_BYTES // (window.taps * window.channels)
    batch = max((few if config.batch is None else config.batch) // block, 1) * block
    return (PooledDecodeDsp if config.dsp else PooledDecode)(
        window=window,
        out_channels=filters,
        group=graph.shape(node.inputs[1])[1],
        index_bits=config.index_bits,
        bits=None if config.runtime_bits else pooled_attrs(node).pooling.activation_bits,
        shift=end.shift,
        residual_shift=end.residual_shift,
        batch=min(filters, batch),
    )


def serves_dsp(graph: Graph, node: Node) -> bool:
    """Vectors fall on whole quads, and there is more than one pixel for the loops."""
    window = pooled_window(graph, node, lanes=1)
    return window.channels % QUAD == 0 and window.out_pixels > 1


def pooled_direct(graph: Graph, node: Node, config: PoolKernelConfig) -> PooledDirect:
    """`PooledDirect` of a QPooledConv or QPooledGemm.

    Raises:
        LoweringError: the node's responses are scaled, or its pool is too large.
    """
    _check_exact(node)
    size, group = graph.shape(node.inputs[1])
    if size > DIRECT_POOL_SIZE:
        raise LoweringError(
            f"a pool of {size} vectors is too large for the direct bit-serial kernel",
            where=node.name,
            hint=f"it serves up to {DIRECT_POOL_SIZE} vectors; take another kernel",
        )
    nibble = config.builder is ResponseKind.NIBBLE
    end = end_of(node)
    return PooledDirect(
        window=pooled_window(graph, node, lanes=1),
        out_channels=graph.shape(node.inputs[2])[0],
        group=group,
        index_bits=config.index_bits,
        bits=None if config.runtime_bits else pooled_attrs(node).pooling.activation_bits,
        shift=end.shift,
        residual_shift=end.residual_shift,
        pool_size=size,
        builder=ResponseKind.NIBBLE if nibble else ResponseKind.BITSERIAL,
    )


def dense_constants(
    graph: Graph, node: Node, spec: PooledDecode | PooledDecodeDsp | PooledDirect
) -> tuple[Array, Array, Array]:
    """The constants of one call.

    Returns:
        Table: the pool int8 [S, G], or words uint32 of the look-up table.  Indices: uint8, packed.
        Bias: int32 [O], or [2, O] with a width chosen at run time (see the specifications).

    Raises:
        InternalError: an accumulator can overflow 32 bits.
    """
    vectors, indices, bias = (graph.constants[name].array for name in node.inputs[1:4])
    x_zero_point = graph.quant(node.inputs[0]).tensor_zero_point
    if isinstance(spec, PooledDecode | PooledDecodeDsp):
        sums = _row_sums(weights_of(graph, node))
        stored = packed(indices, spec.index_bits)
        return vectors, stored, _decode_bias(spec, bias, sums, x_zero_point, node)
    # Missing channels hold the zero point like any other: whole vectors count.
    sums = _row_sums(vectors.astype(np.int64).sum(axis=1)[indices])
    table = response_table(WeightPool(vectors), spec.builder)
    stored = packed(np.moveaxis(indices, 0, -1), spec.index_bits)
    return table, stored, _direct_bias(spec, bias, sums, x_zero_point)


def _row_sums(weights: Array) -> Array:
    """int64 [O]."""
    return np.asarray(weights.reshape(len(weights), -1).astype(np.int64).sum(axis=1))


def _decode_bias(
    spec: PooledDecode | PooledDecodeDsp,
    bias: Array,
    sums: Array,
    x_zero_point: int,
    node: Node,
) -> Array:
    """The kernel sums up codes: ``t(x) - 128``."""
    if spec.bits is None:
        return _stacked(bias, sums)
    zero_point = int(round_codes(np.asarray(x_zero_point), spec.bits)) - _OFFSET
    folded = bias.astype(np.int64) - zero_point * sums
    if np.any((folded < INT32_MIN) | (folded > INT32_MAX)):
        raise InternalError("an accumulator can overflow 32 bits", where=node.name)
    return frozen(folded, np.int32)


def _direct_bias(spec: PooledDirect, bias: Array, sums: Array, x_zero_point: int) -> Array:
    """The kernel sums up ``t(x)`` modulo 2^32, and the offsets of what it looks up."""
    if spec.bits is None:
        return _stacked(bias, sums)
    zero_point = int(round_codes(np.asarray(x_zero_point), spec.bits))
    looked_up = (256 - (1 << (8 - spec.bits))) * _OFFSET * spec.look_ups
    folded = bias.astype(np.int64) - zero_point * sums - looked_up
    return frozen((folded & 0xFFFFFFFF).astype(np.uint32).view(np.int32))


def _stacked(bias: Array, sums: Array) -> Array:
    return frozen(np.stack([bias.astype(np.int64), sums]), np.int32)


def _check_exact(node: Node) -> None:
    if pooled_attrs(node).pooling.response_shift:
        raise LoweringError(
            "responses are scaled, which only the kernel with a table of responses does",
            where=node.name,
        )
