"""Where the product of four rows by two filters serves, and its specification."""

from __future__ import annotations

import dataclasses

import numpy as np

from edgec.base.fixedpoint import INT8_MAX, INT8_MIN, INT32_MAX
from edgec.ir import qops
from edgec.ir.graph import Graph, Node
from edgec.lower.build_dense_dsp import dense_window
from edgec.lower.code_range import is_symmetric
from edgec.lower.dense_weights import QUAD
from edgec.lower.layer_end import end_of, requant31_of
from edgec.lower.spec import DenseQuads
from edgec.lower.spec_dense_quads import TOKENS
from edgec.target.target import Target

_ROOMY_BYTES = 2048
"""The code of a loop of sixteen quads, 104 bytes each, and what is around it (`edgec/quads.h`)."""
_MOST_PRE_SHIFT = 15
"""Bits of the half step that 16x15 requantization adds to a bias."""
_LEAST_UNITS = 16
"""Filters from which on two more pixels a block pay for windows that are gathered byte by byte."""


def accepts(graph: Graph, node: Node, target: Target) -> bool:
    """Whether the core has the DSP extension, and the node what `DenseQuads` asks for."""
    if not target.has_dsp or getattr(node.attrs, "group", 1) != 1:
        return False
    spec = dense_quads(graph, node)
    if spec.rows == 1 or spec.depth % QUAD or spec.scratch_bytes > target.scratch_limit_bytes:
        return False
    return _pays(spec) and (not spec.any_code or _has_room(graph, node))


def _pays(spec: DenseQuads) -> bool:
    """Whether this is the faster one of the products for cores with DSP (the other takes 3 rows).

    After 16x15 bits it always is.  Else, measured with the cycle model on the layers of MLPerf
    Tiny: rows of a last block that is not full are computed for nothing, and gathering costs more
    the fewer filters share it.
    """
    if spec.narrow is not None:
        return True
    idle = -spec.rows % TOKENS
    gathers = spec.window is not None and not spec.widens_runs
    return idle < max(spec.rows // TOKENS, 2) and (not gathers or spec.units >= _LEAST_UNITS)


def _has_room(graph: Graph, node: Node) -> bool:
    """Whether sums of any codes fit int32 with what the biases hold more."""
    weights, bias = (graph.constants[name].array.astype(np.int64) for name in node.inputs[1:3])
    rows = np.abs(weights.reshape(len(weights), -1)).sum(axis=1)
    # |x|, |zx| <= 128, and 128 times the odd weights.
    most = np.abs(bias) + 3 * 128 * rows + (1 << _MOST_PRE_SHIFT)
    return bool(np.all(most <= INT32_MAX))


def _is_symmetric(graph: Graph, node: Node) -> bool:
    """Whether a kernel meets no code -128, in x or outside the image."""
    return is_symmetric(graph, node.inputs[0]) and _padding(graph, node) != INT8_MIN


def _padding(graph: Graph, node: Node) -> int:
    """What convolutions meet outside the image."""
    quant = graph.quant(node.inputs[0])
    is_conv = isinstance(node.attrs, qops.QConv)
    return quant.tensor_zero_point if is_conv and quant.axis is None else 0


def dense_quads(graph: Graph, node: Node) -> DenseQuads:
    """`DenseQuads` of a matrix product, or of a convolution of one group, in either arithmetic."""
    units = graph.shape(node.inputs[1])[0]
    window = dense_window(graph, node)
    depth = window.taps * window.channels
    gathers = not window.is_pointwise or depth % QUAD > 0
    spec = DenseQuads(
        rows=window.out_pixels,
        depth=-(-depth // QUAD) * QUAD,
        units=units,
        narrow=None,
        window=window if gathers else None,
        any_code=not _is_symmetric(graph, node),
    )
    end = end_of(node)
    if end.narrow is not None:
        return dataclasses.replace(spec, narrow=end.narrow)
    form = requant31_of(node)
    return dataclasses.replace(
        spec,
        shift=end.shift,
        residual_shift=end.residual_shift,
        saturates=(form.low, form.high) == (INT8_MIN, INT8_MAX),
    )


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
