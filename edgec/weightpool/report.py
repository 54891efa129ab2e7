"""Errors and bytes of a compressed network, layer by layer."""

from __future__ import annotations

import math
from dataclasses import dataclass

from edgec.ir import ops
from edgec.ir.graph import Constant, Graph, Node
from edgec.ir.searched import is_searched
from edgec.ir.weight_pool import WeightPool
from edgec.weightpool.layers import LeftAlone

_WIDE_BYTES = 4
_SHORT_BYTES = 2


@dataclass(frozen=True, slots=True)
class LayerCompression:
    """One pooled layer.

    Attributes:
        node: name of the layer.
        weights: number of weights.
        vectors: number of vectors.
        terms: pool vectors that are added up to one of them, each an index.
        pool_size: number of vectors in its pool.
        entries_used: distinct entries of the pool among them.
        weight_error: squared error of the weights over their squared sum.
        sqnr_db: signal-to-error ratio of the layer's output against the float network's, with the
            whole network compressed; None without calibration data.
        index_bytes: bytes of its indices, packed.
    """

    node: str
    weights: int
    vectors: int
    terms: int
    pool_size: int
    entries_used: int
    weight_error: float
    sqnr_db: float | None
    index_bytes: int

    @property
    def bits_per_weight(self) -> float:
        """Bits of indices a weight."""
        return 8.0 * self.index_bytes / self.weights


@dataclass(frozen=True, slots=True)
class StoredSizes:
    """Bytes that a network stores, as int8 and with a pool.

    Both ways a bias and a multiplier, which holds the scales, are counted for an output channel.
    They have 32 bits each, in pooled layers 16 bits each (`kernels.weightpool.short_numbers`).  In
    the arithmetic of transformers biases have 32 bits and multipliers 16, pooled or not.  Neither
    way counts code, nor the look-up table that some kernels derive from the pool.

    Attributes:
        int8_weights: weights of all layers and constant operands, a byte each.
        indices: indices of the pooled layers, packed.
        pool: the vectors of all pools.
        unpooled_weights: weights that stay int8, and constant operands.
        biases, multipliers: those of all layers of the int8 network.
        pooled_biases, pooled_multipliers: those of all layers of the pooled network.
        table: the look-up table of bit patterns (256 a vector), where a kernel uses one.
    """

    int8_weights: int
    indices: int
    pool: int
    unpooled_weights: int
    biases: int
    multipliers: int
    pooled_biases: int
    pooled_multipliers: int
    table: int

    @property
    def int8_bytes(self) -> int:
        """All that the int8 network stores."""
        return self.int8_weights + self.biases + self.multipliers

    @property
    def pooled_weights(self) -> int:
        """Bytes in place of the weights: indices, pool and unpooled weights."""
        return self.indices + self.pool + self.unpooled_weights

    @property
    def pooled_bytes(self) -> int:
        """All that the pooled network stores."""
        return self.pooled_weights + self.pooled_biases + self.pooled_multipliers

    @property
    def compression(self) -> float:
        """int8 network over pooled network, everything counted."""
        return self.int8_bytes / self.pooled_bytes

    @property
    def weight_compression(self) -> float:
        """int8 weights over what stands for them; without biases and multipliers."""
        return self.int8_weights / self.pooled_weights


@dataclass(frozen=True, slots=True)
class CompressionReport:
    """Result of compressing one network.

    Attributes:
        pool_size, group: most vectors in a pool, and number of weights in a vector.
        pools: number of pools.
        signed: a pool's second half is the negative of its first.
        samples: calibration samples; 0 when there were none.
        layers: the pooled layers, in graph order.
        left_alone: the other layers with weights.
        sizes: what the network stores, in bytes.
        notes: what the user should know, a sentence each.
    """

    pool_size: int
    group: int
    pools: int
    signed: bool
    samples: int
    layers: tuple[LayerCompression, ...]
    left_alone: tuple[LeftAlone, ...]
    sizes: StoredSizes
    notes: tuple[str, ...] = ()


def index_bytes(count: int, pool: WeightPool) -> int:
    """Bytes of `count` indices, packed."""
    return packed_bytes(count, pool.index_bits)


def packed_bytes(count: int, bits: int) -> int:
    """Bytes of `count` numbers of `bits` bits each, side by side."""
    return -(-count * bits // 8)


def stored_sizes(graph: Graph, *, signed: bool) -> StoredSizes:
    """The sizes of a network with pooled layers.

    Args:
        graph: REAL stage.
        signed: only half of each pool has to be stored.
    """
    weights = [
        graph.constants[ops.layer_inputs(node).w] for node in graph.nodes if _is_layer(graph, node)
    ]
    distinct = {constant.name: constant for constant in weights}
    operands = _operand_bytes(graph)
    pooled = [constant for constant in distinct.values() if constant.pooled is not None]
    plain = sum(_elements(constant) for constant in distinct.values() if constant.pooled is None)
    outputs = sum(constant.shape[0] for constant in weights)
    from_pool = sum(constant.shape[0] for constant in weights if constant.pooled is not None)
    searched = is_searched(graph)
    multiplier = _SHORT_BYTES if searched else _WIDE_BYTES
    saved = 0 if searched else (_WIDE_BYTES - _SHORT_BYTES) * from_pool
    pools = {id(c.pooled.pool): c.pooled.pool for c in pooled if c.pooled is not None}
    vectors = sum(pool.vectors.size for pool in pools.values())
    return StoredSizes(
        int8_weights=sum(_elements(each) for each in distinct.values()) + operands,
        indices=sum(_indices(constant) for constant in pooled),
        pool=vectors // 2 if signed else vectors,
        unpooled_weights=plain + operands,
        biases=_WIDE_BYTES * outputs,
        multipliers=multiplier * outputs,
        pooled_biases=_WIDE_BYTES * outputs - saved,
        pooled_multipliers=multiplier * outputs - saved,
        table=sum(256 * pool.size for pool in pools.values()),
    )


def _is_layer(graph: Graph, node: Node) -> bool:

    weighted = isinstance(node.attrs, ops.Weighted)
    return weighted and ops.layer_inputs(node).w in graph.constants


def _elements(constant: Constant) -> int:
    return math.prod(constant.shape)


def _indices(constant: Constant) -> int:
    pooled = constant.pooled
    return 0 if pooled is None else index_bytes(pooled.indices.size, pooled.pool)


def _operand_bytes(graph: Graph) -> int:
    """Constant operands of element-wise operators: a byte an element, both ways."""
    kinds = (ops.Add, ops.Sub, ops.Mul, ops.Concat, ops.PRelu)
    names = {
        name
        for node in graph.nodes
        if isinstance(node.attrs, kinds)
        for name in node.inputs
        if name in graph.constants
    }
    return sum(_elements(graph.constants[name]) for name in names)
