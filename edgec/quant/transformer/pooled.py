"""Layers of a transformer whose weights come from a pool: their codes stay the pool's.

The real weight is ``scale[o] * code``, so an accumulator of output o counts in steps of ``scale[o]
* scale_x``, which takes one scale for all channels of the input.  Nothing is rounded but the
multiplier, to 15 bits for the layer's largest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgec.base.dtypes import Array
from edgec.base.errors import QuantizationError
from edgec.base.fixedpoint import INT32_MAX, PRE_SHIFT_MAX, Requant16x15
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph, Node
from edgec.quant.transformer.weights import (
    LayerCodes,
    Target,
    accumulator_bound,
    bias_codes,
)

_LEAST_FACTOR = 2.0**-14
"""Least factor, relative to the largest of a layer; smaller ones get a multiplier of 1 or 2."""


def pooled_weight(graph: Graph, node: Node) -> Constant | None:
    """The weights of a Conv of one group or a Gemm, if they come from a pool."""
    if not isinstance(node.attrs, ops.Conv | ops.Gemm) or getattr(node.attrs, "group", 1) != 1:
        return None
    weight = graph.constants.get(ops.layer_inputs(node).w)
    return weight if weight is not None and weight.pooled is not None else None


def reads_pooled(graph: Graph, readers: Sequence[tuple[Node, str]]) -> bool:
    """True when a layer with pooled weights is among the readers of a tensor."""
    return any(pooled_weight(graph, node) is not None for node, _ in readers)


def pooled_codes(
    weight: Constant,
    x_scale: float,
    bias: Array,
    target: Target,
    folded_zero: Array | None,
    span: int,
    where: str,
) -> LayerCodes:
    """The integer form of a layer, its weights as they are.

    Args:
        weight: int8 [O, ...] with `pooled`, one scale or one an output channel.
        x_scale: scale of all channels of the input.
        bias: float64 [O].
        target: quantization of the output.
        folded_zero: zero points of the input's channels [I], to be taken out by the bias, or None.
        span: bound of the magnitude of an input, centred or raw as the operator reads it.
        where: the layer, for messages.

    Raises:
        QuantizationError: the factors do not fit 16 by 15 bits, or an accumulator 32.
    """
    rows = weight.array.reshape(len(weight.array), -1).astype(np.float64)
    own = np.asarray(weight.quant.scale if weight.quant else 1.0)
    factors = np.broadcast_to(own * x_scale / target.scale, (len(rows),))
    requant = _requant(factors, rows, bias, target, folded_zero, span, where)
    scale = np.asarray(requant.factors * target.scale)
    integer = bias_codes(bias, rows, scale, target, folded_zero)
    if accumulator_bound(rows, integer, span).max() + 2.0**PRE_SHIFT_MAX > INT32_MAX:
        raise QuantizationError(
            "the accumulators of this layer cannot be kept inside 32 bits",
            where=where,
            hint="its weights come from a pool and cannot be made coarser; do not pool this layer",
        )
    return LayerCodes(weight.array, integer.astype(np.int32), requant, scale)


def _requant(
    factors: Array,
    rows: Array,
    bias: Array,
    target: Target,
    folded_zero: Array | None,
    span: int,
    where: str,
) -> Requant16x15:
    """The requantization of a layer by its factors float64 [O]; no multiplier is 0."""
    factors = np.maximum(factors, factors.max() * _LEAST_FACTOR)
    rough = bias_codes(bias, rows, factors * target.scale, target, folded_zero)
    bound = accumulator_bound(rows, rough, span)
    try:
        found = Requant16x15.from_real(factors, bound, target.reach)
    except QuantizationError as error:
        raise QuantizationError(error.what, where=where, hint=error.hint) from error
    multiplier = np.maximum(found.multiplier, 1).astype(np.int16)
    return Requant16x15(multiplier, found.pre_shift, found.shift)
