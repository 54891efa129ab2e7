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
from edgec.target.cores import Core

_SCRATCH_LIMIT_BYTES = 16 << 10


def accepts(graph: Graph, node: Node, core: Core) -> bool:
    """Whether the core has the DSP extension, and x what `DenseQuads` asks for."""
    if True not in core.possible_dsp or getattr(node.attrs, "group", 1) != 1:
        return False
    spec = dense_quads(graph, node)
    if spec.rows == 1 or spec.depth % QUAD or spec.scratch_bytes > _SCRATCH_LIMIT_BYTES:
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


def accepts_dual(graph: Graph, node: Node, core: Core) -> bool:
    """As `accepts`, on a core that issues two instructions."""
    return core.issues_two and accepts(graph, node, core)


def dense_quads_dual(graph: Graph, node: Node) -> DenseQuads:
    """`dense_quads` for such a core."""
    return dataclasses.replace(dense_quads(graph, node), dual_issue=True, roomy=True)


def accepts_roomy(graph: Graph, node: Node, core: Core) -> bool:
    """As `accepts`, on a core whose chips have several KB of instruction cache."""
    return core is Core.CORTEX_M33 and accepts(graph, node, core)


def dense_quads_roomy(graph: Graph, node: Node) -> DenseQuads:
    """`dense_quads` for such a core."""
    return dataclasses.replace(dense_quads(graph, node), roomy=True)
