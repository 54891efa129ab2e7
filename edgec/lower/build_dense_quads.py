"""Where the product of four rows by two filters serves, and its specification."""

from __future__ import annotations

import dataclasses

from edgec.base.fixedpoint import INT8_MIN
from edgec.ir import qops_transformer as qt
from edgec.ir.graph import Graph, Node
from edgec.lower.build_16x15 import narrow_of
from edgec.lower.build_dense_dsp import dense_window
from edgec.lower.code_range import is_symmetric
from edgec.lower.dense_weights import QUAD
from edgec.lower.spec import DenseQuads
from edgec.target.target import Target

_ROOMY_BYTES = 2048
"""The code of a loop of sixteen quads, 104 bytes each, and what is around it (`edgec/quads.h`)."""


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """Whether the core has the DSP extension, and x what `DenseQuads` asks for."""
    if not target.has_dsp or getattr(node.attrs, "group", 1) != 1:
        return False
    spec = dense_quads(graph, node)
    if spec.rows == 1 or spec.depth % QUAD or spec.scratch_bytes > target.scratch_limit_bytes:
        return False
    return is_symmetric(graph, node.inputs[0]) and _padding(graph, node) != INT8_MIN


def _padding(graph: Graph, node: Node) -> int:
    """What convolutions meet outside the image."""
    quant = graph.quant(node.inputs[0])
    is_conv = isinstance(node.attrs, qt.QConv16x15)
    return quant.tensor_zero_point if is_conv and quant.axis is None else 0


def dense_quads(graph: Graph, node: Node) -> DenseQuads:
    """`DenseQuads` of a QGemm16x15, or of a QConv16x15 of one group."""
    units = graph.shape(node.inputs[1])[0]
    window = dense_window(graph, node)
    depth = window.taps * window.channels
    narrow = narrow_of(node.attrs)
    if window.is_pointwise:
        return DenseQuads(window.out_pixels, depth, units, narrow)
    padded = -(-depth // QUAD) * QUAD
    return DenseQuads(window.out_pixels, padded, units, narrow, window=window)


def accepts_dual(graph: Graph, node: Node, target: Target) -> bool:
    """As `accepts`, on a core that issues two instructions."""
    return target.dual_issue and accepts(graph, node, target)


def dense_quads_dual(graph: Graph, node: Node) -> DenseQuads:
    """`dense_quads` for such a core."""
    return dataclasses.replace(dense_quads(graph, node), dual_issue=True, roomy=True)


def accepts_roomy(graph: Graph, node: Node, target: Target) -> bool:
    """As `accepts`, where loops of several KB run without waiting for flash."""
    return target.runs_from_cache(_ROOMY_BYTES) and accepts(graph, node, target)


def dense_quads_roomy(graph: Graph, node: Node) -> DenseQuads:
    """`dense_quads` for such a core."""
    return dataclasses.replace(dense_quads(graph, node), roomy=True)
