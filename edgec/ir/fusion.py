"""Fusion of a Clip onto its producer: one rule for quantization, lowering to integers and passes.

A `Clip` after an operator that ends in a clamp costs nothing: the clamp bounds of the integer
operator take its place.  The graph keeps the Clip as a node in the real and annotated stages; this
rule says for which of them

* calibration gives the value *before* the Clip no quantization of its own (nothing stores it);
  an annotated graph gives it the very parameters of the Clip's output;
* `to_integer` emits one node for the two: the producer's operator with the Clip's output as its
  output, that value's parameters, and ``act_min/act_max`` = the Clip's bounds in those parameters.
"""

from __future__ import annotations

import math

from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, quantize_array
from edgec.ir import ops
from edgec.ir.graph import Graph, Node
from edgec.ir.real import RealOperator


def fused_clip(graph: Graph, node: Node) -> Node | None:
    """The Clip that `node` absorbs, or None.

    It is absorbed when `node` ends in a clamp and its output is read by that Clip alone, is no
    graph output, and is not pinned to parameters other than the Clip's output (a QDQ model that
    rounds between the two really rounds there).

    Args:
        graph: REAL (after `absorb_qdq`) or ANNOTATED.
        node: any node.
    """
    if not node.attrs_as(RealOperator).ends_in_clamp:
        return None
    clip = graph.sole_consumer(node.output)
    if clip is None or not isinstance(clip.attrs, ops.Clip):
        return None
    pinned = graph.values[node.output].quant
    if pinned is not None and pinned != graph.values[clip.output].quant:
        return None
    return clip


def fused_producer(graph: Graph, clip: Node) -> Node | None:
    """The node that absorbs `clip` (the inverse of `fused_clip`), or None."""
    if not isinstance(clip.attrs, ops.Clip):
        return None
    producer = graph.producers.get(clip.input)
    if producer is None or fused_clip(graph, producer) is None:
        return None
    return producer


def is_fused_clip(graph: Graph, node: Node) -> bool:
    """True when `node` is a Clip that its producer absorbs."""
    return fused_producer(graph, node) is not None


def act_bounds(low: float, high: float, scale: float, zero_point: int) -> tuple[int, int]:
    """Clamp bounds in int8 codes of a clip to [low, high]: nearest codes, saturated.

    Args:
        low: real lower bound, -inf for none.
        high: real upper bound, inf for none.
        scale: scale of the clamped tensor.
        zero_point: zero point of the clamped tensor.
    """
    return _code(low, scale, zero_point), _code(high, scale, zero_point)


def _code(real: float, scale: float, zero_point: int) -> int:
    if math.isinf(real):
        return INT8_MAX if real > 0 else INT8_MIN
    return int(quantize_array(real, scale, zero_point))
