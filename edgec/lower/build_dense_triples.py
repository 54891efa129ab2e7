"""Specifications of the dense kernel for cores without DSP extension, and where it serves."""

from __future__ import annotations

import numpy as np

from edgec.base.dtypes import Array
from edgec.ir.graph import Graph, Node
from edgec.lower.build_dense_dsp import dense_window
from edgec.lower.layer_end import end_of
from edgec.lower.spec_dense_triples import STEPS, DenseTriples
from edgec.target.target import Target

_LARGEST_SUM = 8191
"""Of |w| in a segment: with activations of up to 128 the sums stay below 2^20."""
_FEW = 4
"""Filters for which it does not pay to pack activations."""


def accepts_two(graph: Graph, node: Node, target: Target) -> bool:
    """A convolution of one group, or a product of several rows, on Armv6-M."""
    return _serves(target) and not target.has_wide_thumb and _accepts(graph, node, target, 2)


def accepts_four(graph: Graph, node: Node, target: Target) -> bool:
    """The same where instructions reach enough registers for four sums: Armv7-M, Armv8-M."""
    return _serves(target) and target.has_wide_thumb and _accepts(graph, node, target, 4)


def _serves(target: Target) -> bool:
    """A microcontroller whose products are of one pair of numbers."""
    return target.is_cortex_m and not target.has_dsp and not target.has_mve


def _accepts(graph: Graph, node: Node, target: Target, filters: int) -> bool:
    """A single pixel would waste the room of two more."""
    if getattr(node.attrs, "group", 1) != 1:
        return False
    spec = _build(graph, node, filters)
    enough = spec.window.out_pixels > 1 and spec.out_channels >= _FEW
    return enough and spec.scratch_bytes <= target.scratch_limit_bytes


def dense_triples_two(graph: Graph, node: Node) -> DenseTriples:
    """`DenseTriples` of a convolution or matrix product, in either arithmetic."""
    return _build(graph, node, 2)


def dense_triples_four(graph: Graph, node: Node) -> DenseTriples:
    """The same with four filters at a time."""
    return _build(graph, node, 4)


def _build(graph: Graph, node: Node, filters: int) -> DenseTriples:
    weights = graph.constants[node.inputs[1]].array
    rows = weights.reshape(weights.shape[0], -1)
    segment = _segment(rows, STEPS[filters])
    window = dense_window(graph, node)
    end = end_of(node)
    return DenseTriples(
        window,
        len(rows),
        end.shift,
        end.residual_shift,
        narrow=end.narrow,
        filters=filters,
        segment=segment,
    )


def _segment(rows: Array, step: int) -> int:
    """The longest equal segments, of a multiple of `step` weights, whose sums have room."""
    sizes = np.abs(rows.astype(np.int64))
    steps = -(-rows.shape[1] // step)
    for parts in range(1, steps + 1):
        segment: int = -(-steps // parts) * step
        starts = np.arange(0, rows.shape[1], segment)
        if np.add.reduceat(sizes, starts, axis=1).max() <= _LARGEST_SUM:
            return segment
    return step
