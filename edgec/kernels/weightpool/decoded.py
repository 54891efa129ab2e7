"""Kernels that expand the vectors of a pool to weights, a few filters at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import InternalError
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.ir.qops.pooled import round_codes
from edgec.ir.weight_pool import PooledWeights
from edgec.ir.weighted import (
    input_zero_point,
    layer_terms,
    plain_inputs,
    pooled_attrs,
    pooled_inputs,
    weights_of,
)
from edgec.kernels.common.constants import ConstantPool, Params, int32_of
from edgec.kernels.common.dense import WORD
from edgec.kernels.common.layer_end import end_of, ends_in_rescale16
from edgec.kernels.common.parts import Parts, TableReads
from edgec.kernels.common.weighted import accumulator_start
from edgec.kernels.common.window import dense_window
from edgec.kernels.weightpool.arguments import PoolRescale16Params, pool_arguments
from edgec.kernels.weightpool.decision import PoolKernelConfig
from edgec.kernels.weightpool.events import Event
from edgec.kernels.weightpool.geometry import pooled_window
from edgec.kernels.weightpool.plain import CODE_BITS, PooledDense, check_exact, row_sums, stacked
from edgec.kernels.weightpool.unrolled import packed_indices

DECODED_BYTES = 4096
"""Expanded weights that are held at a time, unless one block of filters takes more."""


@dataclass(frozen=True, slots=True)
class Decoded(PooledDense):
    """Base class of kernels that expand vectors to weights.

    Attributes:
        batch: filters expanded at a time.
    """

    batch: int

    @property
    def rounds(self) -> bool:
        """Activations may have to be rounded."""
        return self.bits != 8

    @property
    def drop(self) -> int:
        """Low bits of a code that are rounded away; with a width chosen at run time, none here."""
        return 0 if self.bits is None else CODE_BITS - self.bits

    @property
    def number_words(self) -> int:
        """Words of biases [batch], of a width at run time, and of short multipliers [batch]."""
        return self.batch * (2 if self.short else int(self.runtime_bits))

    @property
    def batch_biases(self) -> str:
        """The biases of a batch in C."""
        return "biases" if self.number_words else "params->bias + start"

    @property
    def batch_multipliers(self) -> str:
        """The multipliers of a batch in C."""
        return "multipliers" if self.short else "params->multiplier + start"

    @property
    def full(self) -> int:
        """Vectors of a tap that are used in whole."""
        return self.window.channels // self.group

    @property
    def last(self) -> int:
        """Weights of another vector of a tap, used in part."""
        return self.window.channels % self.group


def decoded_parts(spec: Decoded, counts: Mapping[str, float]) -> Parts:
    """The parts of a call, with the additions at its end; each index finds a vector of the pool."""
    added = 0 if spec.residual_shift is None else spec.out_elements
    vectors = spec.out_channels * spec.filter_indices
    return Parts({**counts, Event.RESIDUAL: added}, table=TableReads(vectors, 1))


def pooled_weights(graph: Graph, node: Node) -> PooledWeights:
    """The weights of a layer that a family of this file serves.

    Raises:
        InternalError: they do not come from a pool, or are not what the pool says.
    """
    weight = graph.constants[plain_inputs(node).w]
    if weight.pooled is None or not np.array_equal(
        weight.pooled.expand(weight.shape[-1]), weight.array
    ):
        raise InternalError("the weights are not those of their pool", where=node.name)
    return weight.pooled


def stored_pool(graph: Graph, node: Node) -> tuple[Array, Array]:
    """The vectors int8 [S, G], and the indices uint8, packed as [filter, tap, vector, term]."""
    weights = pooled_weights(graph, node)
    return weights.pool.vectors, packed_indices(weights.indices, weights.pool.index_bits)


def serves_dsp(graph: Graph, node: Node) -> bool:
    """Vectors fall on whole words, and there is more than one pixel for the loops."""
    window = pooled_window(graph, node, lanes=1)
    return window.channels % WORD == 0 and window.out_pixels > 1


def _bias(spec: Decoded, bias: Array, graph: Graph, node: Node) -> Array:
    if spec.bits is None:
        return stacked(bias, row_sums(weights_of(graph, node)))
    return int32_of(bias.astype(np.int64) + decoded_fold(graph, node), node)


def decoded_fold(graph: Graph, node: Node) -> Array:
    """Additions to the biases of a layer: int64 [O], for kernels that sum up ``t(x) - 128``."""
    x_zero_point = graph.quant(pooled_inputs(node).x).tensor_zero_point
    bits = pooled_attrs(node).rounding.activation_bits
    zero_point = int(round_codes(np.asarray(x_zero_point), bits)) - CODE_OFFSET
    return -zero_point * row_sums(weights_of(graph, node))


CODE_OFFSET = 128
"""Offset of the entries of a look-up table, all parts together."""


def batch_of(filters: int, depth: int, block: int, asked: int | None = None) -> int:
    """Filters that are expanded at a time: a multiple of `block`, or all.

    Args:
        filters, depth: filters of the layer, and weights of each.
        block: filters that are computed together.
        asked: the planner's decision; None: as many as `DECODED_BYTES` hold.
    """
    few = DECODED_BYTES // depth if asked is None else asked
    return min(filters, max(few // block, 1) * block)


def is_pooled(graph: Graph, node: Node) -> bool:
    """A layer of a transformer whose weights come from a pool.

    The integer graph holds it as a plain `QGemm` or `QConv`, whose weight constant says
    which vectors of which pool it consists of.  What is stored is the pool and packed indices.
    """
    is_layer = isinstance(node.attrs, qops.QGemm | qops.QConv) and ends_in_rescale16(node)
    return is_layer and graph.constants[plain_inputs(node).w].pooled is not None


def planned_fields(graph: Graph, node: Node, decision: PoolKernelConfig) -> dict[str, Any]:
    """The fields of a specification for a layer for which the planner has decided, without batch.

    Raises:
        LoweringError: the layer's responses are scaled.
    """
    check_exact(node)
    inputs, end = pooled_inputs(node), end_of(graph, node)
    return {
        "window": pooled_window(graph, node, lanes=1),
        "out_channels": graph.shape(inputs.indices)[0],
        "group": graph.shape(inputs.pool)[1],
        "index_bits": decision.index_bits,
        "bits": None if decision.runtime_bits else pooled_attrs(node).rounding.activation_bits,
        "short": decision.short,
        "shift": end.shift,
        "residual_shift": end.residual_shift,
        "terms": layer_terms(graph, node),
    }


def rescale16_fields(graph: Graph, node: Node) -> dict[str, Any]:
    """The fields of a specification for a layer of a transformer, without batch."""
    weights, end = pooled_weights(graph, node), end_of(graph, node)
    return {
        "window": dense_window(graph, node),
        "out_channels": graph.shape(plain_inputs(node).w)[0],
        "group": weights.pool.group,
        "index_bits": weights.pool.index_bits,
        "bits": 8,
        "shift": end.shift,
        "residual_shift": None,
        "rescale16": end.rescale16,
        "terms": weights.terms,
    }


def decoded_arguments(
    graph: Graph, node: Node, spec: Decoded, pool: ConstantPool
) -> tuple[Params, ...]:
    """The vectors of the pool and the packed indices, in either arithmetic.

    Raises:
        InternalError: an accumulator can overflow 32 bits.
    """
    if not isinstance(node.attrs, qops.QGemm | qops.QConv):
        inputs = pooled_inputs(node)
        names = inputs.pool, inputs.indices, inputs.b
        vectors, indices, bias = (graph.constants[name].array for name in names)
        start = _bias(spec, bias, graph, node)
        tables = vectors, packed_indices(indices, spec.index_bits)
        return pool_arguments(graph, node, pool, tables, start, short=spec.short)
    table, indices = stored_pool(graph, node)
    own = PoolRescale16Params(
        table=pool.add("pool_table", table, shared=True),
        indices=pool.add("indices", indices),
        bias=pool.add("bias", int32_of(accumulator_start(graph, node), node)),
        multiplier=pool.add("multipliers", graph.constants[plain_inputs(node).multiplier].array),
        x_zero_point=input_zero_point(graph, node),
    )
    return (own,)
