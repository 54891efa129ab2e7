"""Layers of a transformer whose weights come from a pool: their codes stay the pool's.

The real weight is ``scale[o] * code``, so an accumulator of output o counts in steps of ``scale[o]
* scale_x``, which takes one scale for all channels of the input.  Nothing is rounded but the
multiplier, to 15 bits for the layer's largest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from edgec.base.fixedpoint import Requant16x15
from edgec.ir import ops
from edgec.ir.graph import Constant, Graph, Node
from edgec.quant.transformer.weights import LayerCodes, Sums

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


def pooled_codes(weight: Constant, x_scale: float, sums: Sums) -> LayerCodes:
    """The integer form of a layer, its weights as they are.

    Args:
        weight: int8 [O, ...] with `pooled`, one scale or one an output channel.
        x_scale: scale of all channels of the input.
        sums: the rest of the layer.

    Raises:
        QuantizationError: the factors do not fit 16 by 15 bits, or an accumulator 32.
    """
    rows, target = weight.array.reshape(len(weight.array), -1), sums.target
    own = np.asarray(weight.quant.scale if weight.quant else 1.0)
    factors = np.broadcast_to(own * x_scale / target.scale, (len(rows),))
    factors = np.maximum(factors, factors.max() * _LEAST_FACTOR)
    found = sums.requant(factors, rows, sums.bias_codes(rows, factors * target.scale))
    multiplier = np.maximum(found.multiplier, 1).astype(np.int16)
    requant = Requant16x15(multiplier, found.pre_shift, found.shift)
    scale = np.asarray(requant.factors * target.scale)
    integer = sums.bias_codes(rows, scale)
    if sums.overflows(rows, integer).any():
        hint = "its weights come from a pool and cannot be made coarser; do not pool this layer"
        raise sums.overflow(hint)
    return LayerCodes(weight.array, integer.astype(np.int32), requant, scale)
