"""Layers of a transformer with pooled weights: decoded a few filters at a time.

The integer graph holds them as plain `QGemm` and `QConv`, whose weight constant says
which vectors of which pool it consists of.  What is stored is the pool and packed indices.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError
from edgec.ir.graph import Graph, Node
from edgec.ir.pool import PooledWeights
from edgec.lower.build_dense_dsp import dense_window
from edgec.lower.build_pooled_dense import DECODED_BYTES
from edgec.lower.dense_weights import FILTERS, QUAD
from edgec.lower.layer_end import end_of, ends_narrow
from edgec.lower.pool_indices import packed
from edgec.lower.spec_pooled_dense import BLOCK, PooledDecode, PooledDecodeDsp
from edgec.target.target import Target

_Kind = TypeVar("_Kind", PooledDecode, PooledDecodeDsp)


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """A layer whose weights come from a pool."""
    return ends_narrow(node) and graph.constants[node.inputs[1]].pooled is not None


def accepts_dsp(graph: Graph, node: Node, target: Target) -> bool:
    """Such a layer on a core with the DSP extension, where vectors fall on whole quads."""
    if not target.has_dsp or not accepts(graph, node, target):
        return False
    window = dense_window(graph, node)
    return window.channels % QUAD == 0 and window.out_pixels > 1


def pooled_decode(graph: Graph, node: Node) -> PooledDecode:
    """`PooledDecode` of a QGemm or QConv."""
    return _spec(PooledDecode, BLOCK, graph, node)


def pooled_decode_dsp(graph: Graph, node: Node) -> PooledDecodeDsp:
    """`PooledDecodeDsp` of a QGemm or QConv."""
    return _spec(PooledDecodeDsp, FILTERS, graph, node)


def _spec(kind: type[_Kind], block: int, graph: Graph, node: Node) -> _Kind:
    window, filters = dense_window(graph, node), graph.shape(node.inputs[1])[0]
    block = min(block, filters)
    batch = max(DECODED_BYTES // (window.taps * window.channels) // block, 1) * block
    pool, end = pooled_weights(graph, node).pool, end_of(node)
    return kind(
        window=window,
        out_channels=filters,
        group=pool.group,
        index_bits=pool.index_bits,
        bits=8,
        shift=end.shift,
        residual_shift=None,
        batch=min(filters, batch),
        narrow=end.narrow,
    )


def pooled_weights(graph: Graph, node: Node) -> PooledWeights:
    """The weights of a layer that a family of this file serves.

    Raises:
        InternalError: they do not come from a pool, or are not what the pool says.
    """
    weight = graph.constants[node.inputs[1]]
    if weight.pooled is None or not np.array_equal(
        weight.pooled.expand(weight.shape[-1]), weight.array
    ):
        raise InternalError("the weights are not those of their pool", where=node.name)
    return weight.pooled


def stored_pool(graph: Graph, node: Node) -> tuple[Array, Array]:
    """The vectors int8 [S, G], and the indices uint8, packed as [filter, tap, vector]."""
    weights = pooled_weights(graph, node)
    return weights.pool.vectors, packed(weights.indices, weights.pool.index_bits)
