"""The kernel of a layer with pooled weights for which no planner has decided."""

from __future__ import annotations

from edgec.ir.graph import Graph, Node
from edgec.ir.weighted import pooled_attrs, pooled_inputs
from edgec.kernels.weightpool.decision import PoolFamily, PoolKernelConfig
from edgec.kernels.weightpool.geometry import fits_lanes

_BYTE_SIZES = 256
"""Pools of up to this many vectors have indices of a byte."""


def default_config(graph: Graph, node: Node) -> PoolKernelConfig:
    """A kernel that serves the node, with little memory."""
    size = graph.shape(pooled_inputs(node).pool)[0]
    index_bits = 8 if size <= _BYTE_SIZES else (size - 1).bit_length()
    if pooled_attrs(node).rounding.response_shift == 0:
        return PoolKernelConfig(PoolFamily.DECODE, index_bits=index_bits)
    lanes = 2 if fits_lanes(graph, node) else 1
    return PoolKernelConfig(PoolFamily.RESPONSES, lanes=lanes, index_bits=index_bits)
