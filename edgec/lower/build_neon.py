"""Specifications of the kernels for cores with NEON, and where they serve."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, TypeVar

from edgec.base.fixedpoint import INT8_MIN, INT32_MAX, INT32_MIN
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.lower import build, build_16x15, build_transformer
from edgec.lower.build_dense_dsp import dense_window
from edgec.lower.code_range import is_symmetric
from edgec.lower.layer_end import end_of
from edgec.lower.spec_neon import (
    AttentionNeon,
    DenseNeon,
    LutNeon,
    NormNeon,
    RescaleNeon,
    StreamAddNeon,
)
from edgec.target.target import Target

_Spec = TypeVar("_Spec")


def accepts_dense(graph: Graph, node: Node, target: Target) -> bool:
    """A convolution of one group or a matrix product, no weight being -128."""
    if not target.has_neon or getattr(node.attrs, "group", 1) != 1:
        return False
    return int(graph.constants[node.inputs[1]].array.min(initial=0)) > INT8_MIN


def dense(graph: Graph, node: Node) -> DenseNeon:
    """`DenseNeon` of a convolution of one group or of a matrix product, in either arithmetic."""
    filters = graph.shape(node.inputs[1])[0]
    window = dense_window(graph, node)
    end = end_of(node)
    return DenseNeon(window, filters, end.shift, end.residual_shift, narrow=end.narrow)


def accepts_attention(graph: Graph, node: Node, target: Target) -> bool:
    """What `AttentionNeon` asks for; and 32 bits hold distances when they are doubled, and the
    logit from which on exponentials are 0.
    """
    attrs = node.attrs_as(qops.QAttention)
    if not target.has_neon:
        return False
    multiplier, limit = graph.constants[node.inputs[3]].array[:, :2].T.astype("int64")
    farthest = multiplier * limit + (1 << 14) + ((15 - attrs.exp_bits) << 26)
    steps = int(graph.constants[node.inputs[-2]].array.min(initial=0)) if attrs.bias else 0
    lowest = steps - 128 * 128 * attrs.width - int(limit.max())
    fits = int(farthest.max()) <= INT32_MAX and lowest >= INT32_MIN
    return fits and any(is_symmetric(graph, name) for name in node.inputs[:2])


def attention_neon(graph: Graph, node: Node) -> AttentionNeon:
    """`AttentionNeon` of a QAttention that `accepts_attention` accepts."""
    return _derived(AttentionNeon, build_transformer.attention(graph, node))


def on_any(graph: Graph, node: Node, target: Target) -> bool:
    """Whether the core has NEON."""
    return target.has_neon


def norm(graph: Graph, node: Node) -> NormNeon:
    """`NormNeon` of a QNorm."""
    return _derived(NormNeon, build_transformer.norm(graph, node))


def rescale(graph: Graph, node: Node) -> RescaleNeon:
    """`RescaleNeon` of a QRescale."""
    plain = build_16x15.rescale(graph, node)
    return RescaleNeon(plain.count, plain.dtype, plain.narrow)


def accepts_lut(graph: Graph, node: Node, target: Target) -> bool:
    """On A64 only: the table takes 16 registers, as many as Armv7-A has."""
    return target.has_neon and target.is_aarch64


def lut(graph: Graph, node: Node) -> LutNeon:
    """`LutNeon` of a QLut."""
    return _derived(LutNeon, build.lut(graph, node))


def accepts_add(graph: Graph, node: Node, target: Target) -> bool:
    """A sum without broadcasting."""
    shapes = {graph.shape(name) for name in (*node.inputs, node.output)}
    return target.has_neon and len(shapes) == 1


def stream_add(graph: Graph, node: Node) -> StreamAddNeon:
    """`StreamAddNeon` of a QStreamAdd."""
    return StreamAddNeon(math.prod(graph.shape(node.output)))


def _derived(kind: type[_Spec], plain: Any) -> _Spec:
    """The specification of the same numbers for cores with NEON."""
    return kind(**{field.name: getattr(plain, field.name) for field in dataclasses.fields(plain)})
